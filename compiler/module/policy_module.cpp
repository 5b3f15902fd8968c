#include "compiler/module/policy_module.h"

#include "compiler/base/limits.h"
#include "compiler/base/short_text.h"
#include "compiler/module/layout.h"
#include "compiler/module/plan_codec.h"
#include "compiler/module/verify_tables.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace curfew::module {
namespace {

using layout::Section;

Failure Bad(std::string_view what) {
  return Failure(FailureCode::Malformed,
                 fmt::format("not a policy module: {}; compile the policy set again", what));
}

// The sections of a module, each within the bytes and none over another.
class Sections {
 public:
  static Result<Sections> Find(ByteView bytes) {
    layout::FileHeader header;
    if (bytes.size() > limits::ModuleBytesMax) {
      return Failure(FailureCode::TooLarge,
                     fmt::format("a policy module has at most {} bytes", limits::ModuleBytesMax));
    }
    if (bytes.size() < sizeof header) return Bad("too short");
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % layout::Alignment != 0) {
      return Bad("it does not begin at a multiple of 16 in memory");
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != layout::Magic) return Bad("it does not begin as one");
    if (header.version != layout::Version) {
      return Bad(fmt::format("version {}, and this program reads version {}", header.version,
                             layout::Version));
    }
    if (header.section_count != layout::SectionCount || header.reserved != 0) return Bad("header");
    if (header.bytes != bytes.size()) return Bad("its length is not what its header says");
    Sections sections;
    sections.bytes_ = bytes;
    sections.content_.bytes = header.content;
    if (Sha256(bytes.subspan(sizeof header)) != sections.content_) {
      return Failure(FailureCode::Tampered,
                     "a policy module's bytes are not those that were compiled; compile the "
                     "policy set again");
    }
    std::size_t end = sizeof header + sizeof sections.records_;
    if (bytes.size() < end) return Bad("too short");
    std::memcpy(sections.records_.data(), bytes.data() + sizeof header, sizeof sections.records_);
    for (const layout::SectionRecord& record : sections.records_) {
      if (record.offset % layout::Alignment != 0 || record.offset < end ||
          record.offset > bytes.size() || record.bytes > bytes.size() - record.offset) {
        return Bad("a section out of place");
      }
      end = std::size_t{record.offset} + record.bytes;
    }
    return sections;
  }

  [[nodiscard]] ByteView BytesOf(Section section) const {
    const layout::SectionRecord& record = records_[static_cast<std::size_t>(section)];
    return bytes_.subspan(record.offset, record.bytes);
  }
  [[nodiscard]] std::string_view TextOf(Section section) const { return AsText(BytesOf(section)); }

  // Points `rows` at the section's records. False when they are no whole number.
  template <typename T>
  [[nodiscard]] bool Rows(Section section, std::span<const T>& rows) const {
    static_assert(alignof(T) <= layout::Alignment && std::is_trivially_copyable_v<T>);
    const ByteView bytes = BytesOf(section);
    rows = {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    return bytes.size() % sizeof(T) == 0;
  }
  [[nodiscard]] const Digest& content() const { return content_; }

 private:
  ByteView bytes_;
  Digest content_;
  std::array<layout::SectionRecord, layout::SectionCount> records_{};
};

Outcome PointTables(const Sections& sections, Tables& tables) {
  const bool whole = sections.Rows(Section::Rules, tables.rules) &&
                     sections.Rows(Section::Classes, tables.classes) &&
                     sections.Rows(Section::ClassLinks, tables.class_links) &&
                     sections.Rows(Section::Blocks, tables.blocks) &&
                     sections.Rows(Section::Groups, tables.groups) &&
                     sections.Rows(Section::Entries, tables.entries) &&
                     sections.Rows(Section::Defaults, tables.defaults) &&
                     sections.Rows(Section::Nodes, tables.nodes) &&
                     sections.Rows(Section::Children, tables.children) &&
                     sections.Rows(Section::Terms, tables.terms) &&
                     sections.Rows(Section::Addends, tables.addends) &&
                     sections.Rows(Section::Integers, tables.integers) &&
                     sections.Rows(Section::Texts, tables.texts) &&
                     sections.Rows(Section::TextItems, tables.text_items) &&
                     sections.Rows(Section::Patterns, tables.patterns) &&
                     sections.Rows(Section::Addresses, tables.addresses) &&
                     sections.Rows(Section::ClassIndex, tables.class_index) &&
                     sections.Rows(Section::BlockIndexes, tables.block_indexes) &&
                     sections.Rows(Section::GroupIndexes, tables.group_indexes) &&
                     sections.Rows(Section::Indexes, tables.indexes) &&
                     sections.Rows(Section::Listed, tables.listed) &&
                     sections.Rows(Section::Keys, tables.keys) &&
                     sections.Rows(Section::Marks, tables.marks) &&
                     sections.Rows(Section::Postings, tables.postings);
  if (!whole) return Bad("half a record");
  tables.names = sections.TextOf(Section::Names);
  tables.data = sections.TextOf(Section::Data);
  return Ok();
}

}  // namespace

Result<PolicyModule> PolicyModule::Load(ByteView bytes, std::uint64_t generation) {
  CURFEW_TRY(const Sections sections, Sections::Find(bytes));
  PolicyModule policy;
  CURFEW_TRY_VOID(PointTables(sections, policy.tables_));

  std::span<const layout::ManifestRecord> manifest;
  if (!sections.Rows(Section::Manifest, manifest) || manifest.size() != 1) return Bad("manifest");
  policy.tables_.selection = manifest[0].selection;
  const NameRef compiler = manifest[0].compiler;
  const std::string_view names = policy.tables_.names;
  if (compiler.offset > names.size() || compiler.size > names.size() - compiler.offset) {
    return Bad("manifest");
  }

  CURFEW_TRY(policy.plans_, DecodePlans(sections.BytesOf(Section::Plans)));
  CURFEW_TRY(policy.declared_, DecodeDeclared(sections.BytesOf(Section::Declared)));
  auto steps = VerifyTables(policy.tables_, policy.declared_);
  if (!steps) return steps.error().In("not a sound policy module");
  const Tables& tables = policy.tables_;
  if (policy.plans_.size() != tables.classes.size()) return Bad("a class without a plan template");
  for (std::size_t i = 0; i < policy.plans_.size(); ++i) {
    if (policy.plans_[i].class_name != tables.NameOf(tables.classes[i].name)) {
      return Bad("a plan template of another class");
    }
  }

  policy.manifest_ = {.policy = Digest{manifest[0].policy},
                      .content = sections.content(),
                      .language = manifest[0].language,
                      .compiler = names.substr(compiler.offset, compiler.size),
                      .generation = generation,
                      .operations_max = *steps};
  return policy;
}

RuleInfo PolicyModule::rule(RuleIndex index) const {
  const RuleRecord& record = tables_.rules[index];
  return {tables_.NameOf(record.id),
          tables_.NameOf(record.message),
          tables_.NameOf(record.file),
          record.line,
          record.column,
          record.effect,
          record.never != 0};
}

bool OnlyNeversDeny(const PolicyModule& policy, const Verdict& verdict) {
  return verdict.effect == Effect::Deny && verdict.stage == schema::Stage::Request &&
         !verdict.undecided && verdict.denials.count > 0 && !verdict.denials.overflowed() &&
         std::ranges::all_of(verdict.denials.written(), [&](RuleIndex rule) {
           return rule < policy.rule_count() && policy.tables().rules[rule].never != 0;
         });
}

std::optional<RuleIndex> PolicyModule::FindRule(std::string_view id) const {
  const auto place = std::ranges::lower_bound(
      tables_.rules, id, {}, [&](const RuleRecord& rule) { return tables_.NameOf(rule.id); });
  if (place == tables_.rules.end() || tables_.NameOf(place->id) != id) return std::nullopt;
  return static_cast<RuleIndex>(place - tables_.rules.begin());
}

std::string_view PolicyModule::class_name(ClassIndex index) const {
  return tables_.NameOf(tables_.classes[index].name);
}

std::optional<ClassIndex> PolicyModule::FindClass(std::string_view name) const {
  // Asked by every decision in a sandbox, and most sets have a few classes.
  constexpr std::size_t kFew = 4;
  if (tables_.classes.size() <= kFew) {
    for (ClassIndex i = 0; i < tables_.classes.size(); ++i) {
      const NameRef own = tables_.classes[i].name;
      if (own.size != name.size()) continue;
      if (SameBytes(tables_.names.data() + own.offset, name.data(), own.size)) return i;
    }
    return std::nullopt;
  }
  const auto place = std::ranges::lower_bound(
      tables_.classes, name, {},
      [&](const ClassRecord& record) { return tables_.NameOf(record.name); });
  if (place == tables_.classes.end() || tables_.NameOf(place->name) != name) return std::nullopt;
  return static_cast<ClassIndex>(place - tables_.classes.begin());
}

}  // namespace curfew::module
