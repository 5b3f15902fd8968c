#include "runtime/egress/names.h"

#include "compiler/base/check.h"

namespace curfew::egress {
namespace {

std::uint32_t Ipv4Of(const values::Address& address) {
  std::uint32_t number = 0;
  for (std::size_t i = 12; i < 16; ++i) number = number << 8 | address.bytes[i];
  return number;
}

values::Address AddressFrom(std::uint32_t number) {
  values::Address address;
  address.bytes[10] = address.bytes[11] = 0xff;
  for (std::size_t i = 15; i >= 12; --i) {
    address.bytes[i] = static_cast<std::uint8_t>(number);
    number >>= 8;
  }
  return address;
}

}  // namespace

Names::Names(const values::Address& base, const std::vector<std::string>& known)
    : base_(Ipv4Of(base)) {
  CURFEW_CHECK(values::IsIpv4(base) && base_ <= UINT32_MAX - (Max - 1),
               "the gateway's own addresses are a whole block of IPv4");
  for (const std::string& name : known) AddressOf(name);
}

std::optional<values::Address> Names::AddressOf(std::string_view name) {
  if (const auto found = index_.find(name); found != index_.end()) {
    return AddressFrom(base_ + found->second);
  }
  if (names_.size() == Max) return std::nullopt;
  const auto place = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  index_.emplace(names_.back(), place);
  return AddressFrom(base_ + place);
}

std::optional<std::size_t> Names::PlaceOf(const values::Address& address) const {
  if (!values::IsIpv4(address)) return std::nullopt;
  const std::uint32_t number = Ipv4Of(address);
  if (number < base_ || number - base_ >= Max) return std::nullopt;
  return number - base_;
}

std::optional<std::string> Names::NameAt(const values::Address& address) const {
  const std::optional<std::size_t> place = PlaceOf(address);
  if (!place || *place >= names_.size()) return std::nullopt;
  return names_[*place];
}

bool Names::IsOwn(const values::Address& address) const { return PlaceOf(address).has_value(); }

}  // namespace curfew::egress
