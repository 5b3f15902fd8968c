#include "compiler/ir/encode.h"

#include "compiler/base/check.h"
#include "compiler/base/limits.h"
#include "compiler/module/layout.h"
#include "compiler/module/plan_codec.h"
#include "compiler/module/verify_tables.h"

#include <cstring>

#include <fmt/format.h>

namespace curfew::ir {
namespace {

using module::layout::Section;

template <typename T>
ByteView BytesOf(const std::vector<T>& rows) {
  static_assert(std::has_unique_object_representations_v<T>, "padding would leak into the bytes");
  return {reinterpret_cast<const std::uint8_t*>(rows.data()), rows.size() * sizeof(T)};
}

class File {
 public:
  File() : bytes_(sizeof(module::layout::FileHeader) + sizeof records_) {}

  void Add(Section section, ByteView content) {
    CURFEW_CHECK(static_cast<std::size_t>(section) == next_, "sections come in their order");
    while (bytes_.size() % module::layout::Alignment != 0) bytes_.push_back(0);
    CURFEW_CHECK(bytes_.size() + content.size() <= limits::ModuleBytesMax,
                 "a module that is verified has its size");
    records_[next_++] = {static_cast<std::uint32_t>(bytes_.size()),
                         static_cast<std::uint32_t>(content.size())};
    bytes_.insert(bytes_.end(), content.begin(), content.end());
  }

  Bytes Finish() && {
    CURFEW_CHECK(next_ == module::layout::SectionCount, "every section was added");
    module::layout::FileHeader header;
    std::memcpy(bytes_.data() + sizeof header, records_.data(), sizeof records_);
    header.bytes = bytes_.size();
    header.content = Sha256(ByteView(bytes_).subspan(sizeof header)).bytes;
    std::memcpy(bytes_.data(), &header, sizeof header);
    return std::move(bytes_);
  }

 private:
  std::array<module::layout::SectionRecord, module::layout::SectionCount> records_{};
  std::size_t next_ = 0;
  Bytes bytes_;
};

// Every section with its content, in their order.
template <typename Add>
void EachSection(const DecisionIr& ir, const Add& add) {
  // The compiler's version lies behind the names.
  const std::string names = ir.names + ir.compiler;
  module::layout::ManifestRecord manifest;
  manifest.policy = ir.policy.bytes;
  manifest.compiler = {static_cast<std::uint32_t>(ir.names.size()),
                       static_cast<std::uint32_t>(ir.compiler.size())};
  manifest.language = ir.language;
  manifest.selection = ir.selection;

  add(Section::Manifest, {reinterpret_cast<const std::uint8_t*>(&manifest), sizeof manifest});
  add(Section::Rules, BytesOf(ir.rules));
  add(Section::Classes, BytesOf(ir.classes));
  add(Section::ClassLinks, BytesOf(ir.class_links));
  add(Section::Blocks, BytesOf(ir.blocks));
  add(Section::Groups, BytesOf(ir.groups));
  add(Section::Entries, BytesOf(ir.entries));
  add(Section::Defaults, BytesOf(ir.defaults));
  add(Section::Nodes, BytesOf(ir.nodes));
  add(Section::Children, BytesOf(ir.children));
  add(Section::Terms, BytesOf(ir.terms));
  add(Section::Addends, BytesOf(ir.addends));
  add(Section::Integers, BytesOf(ir.integers));
  add(Section::Texts, BytesOf(ir.texts));
  add(Section::TextItems, BytesOf(ir.text_items));
  add(Section::Patterns, BytesOf(ir.patterns));
  add(Section::Addresses, BytesOf(ir.addresses));
  add(Section::ClassIndex, BytesOf(ir.index.class_index));
  add(Section::BlockIndexes, BytesOf(ir.index.block_indexes));
  add(Section::GroupIndexes, BytesOf(ir.index.group_indexes));
  add(Section::Indexes, BytesOf(ir.index.indexes));
  add(Section::Listed, BytesOf(ir.index.listed));
  add(Section::Keys, BytesOf(ir.index.keys));
  add(Section::Marks, BytesOf(ir.index.marks));
  add(Section::Postings, BytesOf(ir.index.postings));
  add(Section::Names, AsBytes(names));
  add(Section::Data, AsBytes(ir.data));
  add(Section::Plans, module::EncodePlans(ir.plans));
  add(Section::Declared, module::EncodeDeclared(ir.declared));
}

std::size_t SizeOfModule(const DecisionIr& ir) {
  std::size_t bytes = sizeof(module::layout::FileHeader) +
                      module::layout::SectionCount *
                          (sizeof(module::layout::SectionRecord) + module::layout::Alignment);
  EachSection(ir, [&](Section, ByteView content) { bytes += content.size(); });
  return bytes;
}

}  // namespace

Outcome Verify(const DecisionIr& ir) {
  if (ir.plans.size() != ir.classes.size()) {
    return Failure(FailureCode::Malformed, "a class without a plan template");
  }
  if (SizeOfModule(ir) > limits::ModuleBytesMax) {
    return Failure(FailureCode::TooLarge,
                   fmt::format("its decision code has more than {} MiB; split the set",
                               limits::ModuleBytesMax / (1024 * 1024)));
  }
  auto steps = module::VerifyTables(View(ir), ir.declared);
  if (!steps) return std::move(steps).error();
  return Ok();
}

Bytes Encode(const DecisionIr& ir) {
  File file;
  EachSection(ir, [&](Section section, ByteView content) { file.Add(section, content); });
  return std::move(file).Finish();
}

}  // namespace curfew::ir
