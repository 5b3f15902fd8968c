#include "compiler/ir/encode.h"

#include "compiler/base/check.h"
#include "compiler/base/limits.h"
#include "compiler/module/layout.h"
#include "compiler/module/plan_codec.h"
#include "compiler/module/verify_tables.h"

#include <cstring>

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
                 "a set's text is bounded, and so is its module");
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

}  // namespace

Outcome Verify(const DecisionIr& ir) {
  if (ir.plans.size() != ir.classes.size()) {
    return Failure(FailureCode::Malformed, "a class without a plan template");
  }
  auto steps = module::VerifyTables(View(ir), ir.declared);
  if (!steps) return std::move(steps).error();
  return Ok();
}

Bytes Encode(const DecisionIr& ir) {
  // The compiler's version lies behind the names.
  const std::string names = ir.names + ir.compiler;
  module::layout::ManifestRecord manifest;
  manifest.policy = ir.policy.bytes;
  manifest.compiler = {static_cast<std::uint32_t>(ir.names.size()),
                       static_cast<std::uint32_t>(ir.compiler.size())};
  manifest.language = ir.language;
  manifest.selection = ir.selection;

  File file;
  file.Add(Section::Manifest, {reinterpret_cast<const std::uint8_t*>(&manifest), sizeof manifest});
  file.Add(Section::Rules, BytesOf(ir.rules));
  file.Add(Section::Classes, BytesOf(ir.classes));
  file.Add(Section::ClassLinks, BytesOf(ir.class_links));
  file.Add(Section::Blocks, BytesOf(ir.blocks));
  file.Add(Section::Groups, BytesOf(ir.groups));
  file.Add(Section::Entries, BytesOf(ir.entries));
  file.Add(Section::Defaults, BytesOf(ir.defaults));
  file.Add(Section::Nodes, BytesOf(ir.nodes));
  file.Add(Section::Children, BytesOf(ir.children));
  file.Add(Section::Terms, BytesOf(ir.terms));
  file.Add(Section::Addends, BytesOf(ir.addends));
  file.Add(Section::Integers, BytesOf(ir.integers));
  file.Add(Section::Texts, BytesOf(ir.texts));
  file.Add(Section::TextItems, BytesOf(ir.text_items));
  file.Add(Section::Patterns, BytesOf(ir.patterns));
  file.Add(Section::Addresses, BytesOf(ir.addresses));
  file.Add(Section::ClassIndex, BytesOf(ir.index.class_index));
  file.Add(Section::BlockIndexes, BytesOf(ir.index.block_indexes));
  file.Add(Section::GroupIndexes, BytesOf(ir.index.group_indexes));
  file.Add(Section::Indexes, BytesOf(ir.index.indexes));
  file.Add(Section::Unkeyed, BytesOf(ir.index.unkeyed));
  file.Add(Section::Keys, BytesOf(ir.index.keys));
  file.Add(Section::Postings, BytesOf(ir.index.postings));
  file.Add(Section::Names, AsBytes(names));
  file.Add(Section::Data, AsBytes(ir.data));
  file.Add(Section::Plans, module::EncodePlans(ir.plans));
  file.Add(Section::Declared, module::EncodeDeclared(ir.declared));
  return std::move(file).Finish();
}

}  // namespace curfew::ir
