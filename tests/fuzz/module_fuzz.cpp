// Bytes of a module that someone changed and sealed again: loading refuses them, or every request
// gets an answer. The input is a list of changes (where, what) to a module that is compiled here.
#include "compiler/base/check.h"
#include "compiler/check/check.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/encode.h"
#include "compiler/lower/lower.h"
#include "compiler/module/layout.h"
#include "compiler/syntax/parse.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace {

using namespace curfew;

constexpr std::string_view kPolicy = R"(language 1
attributes task { risk: low < high  labels: set of string }
image base { digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }
sandbox coding when task.kind == "coding" and task.team in ["a", "b"] {
  image { allow base  exec "/usr/bin/**"  size cpu 2 at most 4  isolation any }
  identity { access "group:sre" }
  filesystem { export "/work/out/**" at most 1MiB }
  network {
    allow GET "http://*.example.com/a/**"
    allow connect "db.example.com:5432" at "10.0.0.0/8"
    deny any "https://api.example.com/secret/*"
  }
  lifetime { ttl 1h at most 2h  idle 5m then close  grace 5s }
}
deny exec when any a in exec.args where (a matches "-*")
require create: task.owner in caller.groups or task.risk == low
deny egress when has egress.ip and egress.ip in "192.0.2.0/24"
never exec, observe when task.risk == high and now.weekday == sun
)";

Bytes Compiled() {
  source::SourceMap sources;
  sources.Add({"fuzz.curfew", std::string(kPolicy)});
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  const auto model = check::Check(trees, sources, sink);
  CURFEW_CHECK(!sink.has_errors(), "the policy of this target has no errors");
  const auto code = lower::Lower(model, sources);
  CURFEW_CHECK(code.has_value(), "and it lowers");
  return ir::Encode(*code);
}

void Seal(Bytes& bytes) {
  const Digest digest = Sha256(ByteView(bytes).subspan(sizeof(module::layout::FileHeader)));
  std::memcpy(bytes.data() + offsetof(module::layout::FileHeader, content), digest.bytes.data(),
              digest.bytes.size());
}

// Every fact that the action has, of its type.
module::Request RequestOf(schema::Action action, schema::Stage stage) {
  static const module::Value kItems[] = {module::Value::OfText("-m"),
                                         module::Value::OfText("group:sre")};
  static const std::string kLong(32, '\x01');
  module::Request request(action, stage);
  for (const schema::Attribute& attribute : schema::AttributesOf(action)) {
    if (attribute.type.collection != schema::Collection::One) {
      request.Set(attribute.slot, module::Value::OfItems(kItems));
      continue;
    }
    switch (attribute.type.kind) {
      case schema::TypeKind::Bool:
      case schema::TypeKind::Int:
      case schema::TypeKind::Duration:
      case schema::TypeKind::Size:
      case schema::TypeKind::Time:
      case schema::TypeKind::Enum:
        request.SetInteger(attribute.slot, 1);
        break;
      case schema::TypeKind::Ip:
        request.SetText(attribute.slot, std::string_view(kLong).substr(0, 16));
        break;
      case schema::TypeKind::Digest:
        request.SetText(attribute.slot, kLong);
        break;
      case schema::TypeKind::Text:
      case schema::TypeKind::Principal:
      case schema::TypeKind::Cidr:
      case schema::TypeKind::Host:
      case schema::TypeKind::UrlPath:
      case schema::TypeKind::FilePath:
        request.SetText(attribute.slot, "coding");
        break;
    }
  }
  request.SetInteger(schema::DeclaredSlot(action, 1), 1);
  request.Set(schema::DeclaredSlot(action, 0), module::Value::OfItems(kItems));
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Bytes kGood = Compiled();
  Bytes bytes = kGood;
  // Four bytes a change: three of place, one of value.
  for (std::size_t i = 0; i + 4 <= size; i += 4) {
    const std::size_t place =
        data[i] | std::size_t{data[i + 1]} << 8 | std::size_t{data[i + 2]} << 16;
    bytes[place % bytes.size()] = data[i + 3];
  }
  Seal(bytes);
  auto loaded = curfew::module::PolicyModule::Load(bytes, 1);
  if (!loaded) return 0;
  const curfew::interpret::Interpreter engine(*std::move(loaded));
  curfew::module::VerdictRoom room;
  for (const auto& info : curfew::schema::Actions()) {
    for (const auto stage : {curfew::schema::Stage::Name, curfew::schema::Stage::Request}) {
      engine.Decide(RequestOf(info.action, stage), room.verdict);
      CURFEW_CHECK(
          (room.verdict.effect == curfew::module::Effect::Deny) == (room.verdict.denials.count > 0),
          "a denial has a reason and an allow has none");
    }
  }
  return 0;
}
