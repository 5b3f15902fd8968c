#include "compiler/module/plan_codec.h"

#include "compiler/base/limits.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

namespace curfew::module {
namespace {

// One walk over a value's members serves both ways, so that they cannot differ: Writer appends what
// Reader takes.
class Writer {
 public:
  void Number(const std::int64_t& value) { Raw(&value, sizeof value); }
  void Small(const std::uint8_t& value, std::uint8_t) { bytes_.push_back(value); }
  void Text(const std::string& text) {
    Size(text.size());
    Raw(text.data(), text.size());
  }
  void Bytes32(const std::array<std::uint8_t, 32>& bytes) { Raw(bytes.data(), bytes.size()); }
  template <typename T, typename Each>
  void List(const std::vector<T>& list, Each each) {
    Size(list.size());
    for (const T& element : list) each(element);
  }
  Bytes Take() && { return std::move(bytes_); }

 private:
  void Size(std::size_t size) { Number(static_cast<std::int64_t>(size)); }
  void Raw(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::uint8_t*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  Bytes bytes_;
};

class Reader {
 public:
  explicit Reader(ByteView bytes) : rest_(bytes) {}

  void Number(std::int64_t& value) { Raw(&value, sizeof value); }
  void Small(std::uint8_t& value, std::uint8_t most) {
    Raw(&value, 1);
    if (value > most) Fail("an enumerator out of range");
  }
  void Text(std::string& text) {
    const std::size_t size = Size(1);
    text.resize(size);
    Raw(text.data(), size);
    std::string_view left = text;
    while (!left.empty()) {
      const auto point = DecodeUtf8(left);
      if (!point) return Fail("text that is not UTF-8");
      left.remove_prefix(point->bytes);
    }
  }
  void Bytes32(std::array<std::uint8_t, 32>& bytes) { Raw(bytes.data(), bytes.size()); }
  template <typename T, typename Each>
  void List(std::vector<T>& list, Each each) {
    // No element takes less than a byte, so that a stated size cannot make us allocate more than a
    // few times what is there.
    const std::size_t size = Size(1);
    for (std::size_t i = 0; i < size && !problem_; ++i) each(list.emplace_back());
  }
  Outcome Finish() {
    if (!rest_.empty()) Fail("bytes behind the end");
    if (problem_) return Failure(FailureCode::Malformed, problem_);
    return Ok();
  }

 private:
  void Fail(const char* problem) {
    if (problem_ == nullptr) problem_ = problem;
    rest_ = {};
  }
  std::size_t Size(std::size_t bytes_each) {
    std::int64_t size = 0;
    Number(size);
    if (size < 0 || static_cast<std::uint64_t>(size) > rest_.size() / bytes_each) {
      if (problem_ == nullptr) problem_ = "a size beyond the end";
      return 0;
    }
    return static_cast<std::size_t>(size);
  }
  void Raw(void* data, std::size_t size) {
    if (size > rest_.size()) return Fail("the end in the middle of a value");
    if (size > 0) std::memcpy(data, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }
  ByteView rest_;
  const char* problem_ = nullptr;
};

// Reader gives an integer a value that Writer takes from it: bools and enumerations go as bytes.
template <typename Io, typename T>
void Byte(Io& io, T& value, std::uint8_t most) {
  auto byte = static_cast<std::uint8_t>(value);
  io.Small(byte, most);
  if constexpr (!std::is_const_v<T>) value = static_cast<T>(byte);
}
template <typename Io, typename T>
void Flag(Io& io, T& value) {
  Byte(io, value, 1);
}

template <typename Io, typename T>
void Walk(Io& io, std::optional<T>& value);
template <typename Io, typename T>
void Walk(Io& io, const std::optional<T>& value);

template <typename Io, typename T>
  requires std::is_same_v<std::remove_const_t<T>, std::int64_t>
void Walk(Io& io, T& number) {
  io.Number(number);
}
template <typename Io, typename T>
  requires std::is_same_v<std::remove_const_t<T>, std::string>
void Walk(Io& io, T& text) {
  io.Text(text);
}
template <typename Io, typename T>
  requires std::is_same_v<std::remove_const_t<T>, Bound>
void Walk(Io& io, T& bound) {
  Walk(io, bound.standard);
  io.Number(bound.most);
}
template <typename Io, typename T>
  requires std::is_same_v<std::remove_const_t<T>, TokenGrant>
void Walk(Io& io, T& token) {
  io.Text(token.audience);
  io.Number(token.lives_ms);
}

template <typename Io, typename T>
  requires std::is_same_v<std::remove_const_t<T>, Renewal>
void Walk(Io& io, T& renewal) {
  io.Number(renewal.times);
  io.Number(renewal.by_ms);
}

template <typename Io, typename T>
void Walk(Io& io, std::optional<T>& value) {
  bool is_there = value.has_value();
  Flag(io, is_there);
  if (is_there && !value) value.emplace();
  if (is_there) Walk(io, *value);
}
template <typename Io, typename T>
void Walk(Io& io, const std::optional<T>& value) {
  const bool is_there = value.has_value();
  Flag(io, is_there);
  if (is_there) Walk(io, *value);
}

template <typename Io, typename T>
  requires std::is_same_v<std::remove_const_t<T>, EgressLimits>
void Walk(Io& io, T& limits) {
  Walk(io, limits.requests);
  io.Number(limits.window_ms);
  Walk(io, limits.request_bytes);
  Walk(io, limits.total_bytes);
}

// A bit that no action has is lost in reading, so that the bytes are not in their one form.
template <typename Io, typename T>
  requires std::is_same_v<std::remove_const_t<T>, Evidence>
void Walk(Io& io, T& evidence) {
  auto actions = static_cast<std::int64_t>(evidence.unrecorded_allows.to_ullong());
  io.Number(actions);
  if constexpr (!std::is_const_v<T>) {
    evidence.unrecorded_allows = static_cast<std::uint64_t>(actions);
  }
  io.List(evidence.redacted_headers, [&](auto& header) { io.Text(header); });
  io.Number(evidence.retain_ms);
}

template <typename Io, typename Plan>
void WalkPlan(Io& io, Plan& plan) {
  io.Text(plan.class_name);
  io.List(plan.images, [&](auto& image) {
    io.Text(image.name);
    io.Text(image.ref);
    io.Bytes32(image.digest.bytes);
  });
  Walk(io, plan.cpu);
  Walk(io, plan.memory_bytes);
  Walk(io, plan.disk_bytes);
  Flag(io, plan.disk_is_bounded);
  Byte(io, plan.isolation, static_cast<std::uint8_t>(Isolation::Any));
  Walk(io, plan.token);
  io.List(plan.secrets, [&](auto& secret) {
    io.Text(secret.name);
    Flag(io, secret.from_file);
    io.Text(secret.source);
    Byte(io, secret.form, static_cast<std::uint8_t>(SecretForm::Header));
    io.Text(secret.header);
    io.List(secret.hosts, [&](auto& host) {
      io.Text(host.name);
      io.Number(host.port);
    });
  });
  io.List(plan.secret_uses, [&](auto& use) {
    io.Text(use.rule);
    io.Text(use.secret);
  });
  io.List(plan.env, [&](auto& name) { io.Text(name); });
  Flag(io, plan.access_any);
  io.List(plan.access, [&](auto& principal) { io.Text(principal); });
  io.List(plan.scratch, [&](auto& scratch) {
    io.Text(scratch.path);
    io.Number(scratch.bytes);
  });
  io.List(plan.volumes, [&](auto& volume) {
    io.Text(volume.name);
    io.Text(volume.path);
    io.Number(volume.bytes);
    io.Text(volume.reason);
    io.Text(volume.owner);
    io.Number(volume.expires_ms);
    Flag(io, volume.shared_by_class);
  });
  io.List(plan.snapshots, [&](auto& snapshot) {
    Byte(io, snapshot.kind, static_cast<std::uint8_t>(SnapshotKind::Memory));
    Walk(io, snapshot.expires_ms);
    Walk(io, snapshot.bytes_most);
    Walk(io, snapshot.keep_most);
    io.Number(snapshot.branches_most);
    Flag(io, snapshot.renews);
    io.List(snapshot.from, [&](auto& name) { io.Text(name); });
  });
  const auto transfer_rule = [&](auto& transfer) {
    io.List(transfer.patterns, [&](auto& pattern) { io.Text(pattern); });
    Flag(io, transfer.each);
    io.Number(transfer.bytes_most);
  };
  io.List(plan.imports, transfer_rule);
  io.List(plan.exports, transfer_rule);
  Flag(io, plan.network);
  Flag(io, plan.inspects_tls);
  Flag(io, plan.opens_websockets);
  Walk(io, plan.limits);
  io.List(plan.exposes, [&](auto& expose) {
    io.Number(expose.first_port);
    io.Number(expose.last_port);
    io.Text(expose.to);
    Walk(io, expose.lasts_ms);
  });
  Walk(io, plan.ttl_ms);
  Walk(io, plan.idle_ms);
  Byte(io, plan.idle_end, static_cast<std::uint8_t>(IdleEnd::Freeze));
  Walk(io, plan.frozen_ms);
  Walk(io, plan.renewal);
  io.Number(plan.grace_ms);
  Walk(io, plan.evidence);
}

template <typename Io, typename Attribute>
void WalkDeclared(Io& io, Attribute& attribute) {
  io.Text(attribute.path);
  Byte(io, attribute.kind, static_cast<std::uint8_t>(schema::TypeKind::Enum));
  Byte(io, attribute.collection, static_cast<std::uint8_t>(schema::Collection::List));
  Flag(io, attribute.optional);
  Flag(io, attribute.restated);
  std::int64_t elements_most = attribute.elements_most;
  io.Number(elements_most);
  if constexpr (!std::is_const_v<Attribute>) {
    attribute.elements_most = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(elements_most, 0, limits::SetElementsMax));
  }
  io.List(attribute.enum_values, [&](auto& value) { io.Text(value); });
}

template <typename T, typename WalkOne>
Result<std::vector<T>> Decode(ByteView bytes, WalkOne walk_one, std::string_view what,
                              Bytes (*encode)(std::span<const T>)) {
  Reader reader(bytes);
  std::vector<T> list;
  reader.List(list, [&](T& element) { walk_one(reader, element); });
  if (Outcome outcome = reader.Finish(); !outcome) return outcome.error().In(what);
  const Bytes again = encode(list);
  if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) {
    return Failure(FailureCode::Malformed, fmt::format("{}: not in the one form they have", what));
  }
  return list;
}

}  // namespace

Bytes EncodePlans(std::span<const PlanTemplate> plans) {
  Writer writer;
  writer.List(std::vector<PlanTemplate>(plans.begin(), plans.end()),
              [&](const PlanTemplate& plan) { WalkPlan(writer, plan); });
  return std::move(writer).Take();
}

Result<std::vector<PlanTemplate>> DecodePlans(ByteView bytes) {
  return Decode<PlanTemplate>(
      bytes, [](Reader& reader, PlanTemplate& plan) { WalkPlan(reader, plan); }, "plan templates",
      EncodePlans);
}

Bytes EncodeDeclared(std::span<const DeclaredAttribute> declared) {
  Writer writer;
  writer.List(std::vector<DeclaredAttribute>(declared.begin(), declared.end()),
              [&](const DeclaredAttribute& attribute) { WalkDeclared(writer, attribute); });
  return std::move(writer).Take();
}

Result<std::vector<DeclaredAttribute>> DecodeDeclared(ByteView bytes) {
  return Decode<DeclaredAttribute>(
      bytes, [](Reader& reader, DeclaredAttribute& attribute) { WalkDeclared(reader, attribute); },
      "declared attributes", EncodeDeclared);
}

}  // namespace curfew::module
