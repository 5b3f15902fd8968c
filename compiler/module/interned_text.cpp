#include "compiler/module/interned_text.h"

#include <cstring>
#include <type_traits>

namespace curfew::module {

static_assert(std::is_trivially_copyable_v<KeyHits> && alignof(KeyHits) <= alignof(std::uint64_t));

InternedText::InternedText(std::string_view text, const KeyHits& hits)
    : room_(new std::uint64_t[(sizeof hits + text.size()) / sizeof(std::uint64_t) + 1]),
      size_(static_cast<std::uint32_t>(text.size())) {
  auto* place = reinterpret_cast<char*>(room_.get());
  std::memcpy(place, &hits, sizeof hits);
  std::memcpy(place + sizeof hits, text.data(), text.size());
}

Value InternedText::value() const {
  Value value =
      Value::OfText({reinterpret_cast<const char*>(room_.get()) + sizeof(KeyHits), size_});
  value.interned = 1;
  return value;
}

}  // namespace curfew::module
