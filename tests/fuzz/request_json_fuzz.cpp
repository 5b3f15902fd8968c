// A request as JSON from anybody: it is decoded or refused, and what is decoded is whole.
#include "compiler/base/check.h"
#include "compiler/module/request_json.h"

#include <cstddef>
#include <cstdint>

namespace {

using namespace curfew;

std::vector<module::DeclaredAttribute> Declared() {
  module::DeclaredAttribute risk;
  risk.path = "task.risk";
  risk.kind = schema::TypeKind::Enum;
  risk.enum_values = {"low", "medium", "high"};
  module::DeclaredAttribute blocks;
  blocks.path = "caller.blocks";
  blocks.kind = schema::TypeKind::Cidr;
  blocks.collection = schema::Collection::Set;
  blocks.optional = true;
  return {risk, blocks};
}

// Every view must lead somewhere; a sanitizer sees where it does not.
std::size_t Read(const module::Request& request, std::size_t slots) {
  std::size_t sum = 0;
  for (schema::Slot slot = 0; slot < slots; ++slot) {
    if (!request.is_present(slot)) continue;
    CURFEW_CHECK(request.is_known(slot), "what is present is known");
    sum += static_cast<std::size_t>(request.value(slot).integer);
  }
  for (const module::Value& group : request.value(schema::slot::CallerGroups).elements()) {
    for (const char c : group.text()) sum += static_cast<unsigned char>(c);
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto declared = Declared();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto who : {module::StatedBy::Caller, module::StatedBy::Author}) {
    const auto read = module::DecodeRequestText(text, declared, who);
    if (!read) return 0;
    const module::RequestDecoding& decoding = *read;
    CURFEW_CHECK(decoding.problems.empty() == decoding.decoded.has_value(),
                 "a document fits, or it says where it does not");
    if (!decoding) continue;
    const module::Request& request = decoding.decoded->request;
    CURFEW_CHECK(module::BrokenAxioms(request).empty(), "what was decoded keeps to the axioms");
    volatile std::size_t sink =
        Read(request, schema::AttributesOf(request.action()).size() + declared.size());
    (void)sink;
  }
  return 0;
}
