#include "compiler/module/request_json.h"

#include "compiler/base/text.h"
#include "compiler/module/capability.h"

#include <algorithm>
#include <array>
#include <bitset>

#include <fmt/format.h>

namespace curfew::module {
namespace {

using schema::Action;
using schema::Origin;
using schema::Slot;
using schema::Stage;
using Kind = JsonValue::Kind;

constexpr std::size_t kProblemsMax = 20;

// Facts that a later stage brings (language.md section 6).
bool IsLater(Slot slot, Stage stage) {
  if (stage == Stage::Request) return false;
  constexpr std::array kOfRequest = {schema::slot::EgressMethod, schema::slot::EgressPath,
                                     schema::slot::EgressQuery,  schema::slot::EgressBytes,
                                     schema::slot::EgressTotal,  schema::slot::EgressRequests,
                                     schema::slot::EgressUpgrade};
  if (std::find(kOfRequest.begin(), kOfRequest.end(), slot) != kOfRequest.end()) return true;
  return stage == Stage::Name && slot == schema::slot::EgressIp;
}

class Decoder {
 public:
  Decoder(std::span<const DeclaredAttribute> declared, StatedBy stated_by)
      : declared_(declared), stated_by_(stated_by) {}

  RequestDecoding Run(const JsonValue& document) {
    RequestDecoding result;
    if (!document.is(Kind::Object)) {
      Problem("",
              fmt::format("{} where a request, an object, is asked for", Describe(document.kind)));
    } else {
      Decode(document);
    }
    if (problems_.empty()) {
      result.decoded = DecodedRequest{*std::move(request_), std::move(arena_)};
    } else {
      result.problems = std::move(problems_);
    }
    return result;
  }

 private:
  void Decode(const JsonValue& document) {
    ReadVersion(document);
    const std::optional<Action> action = ReadAction(document);
    if (!action) return;
    const std::optional<Stage> stage = ReadStage(document, *action);
    if (!stage) return;
    request_.emplace(*action, *stage);
    fields_ = FactsOf(*action, declared_);
    ReadObject(document, "", "");
    for (const Fact& field : fields_) Complete(field);
    for (RequestProblem& broken : BrokenAxioms(*request_)) {
      Problem(broken.pointer, std::move(broken.message));
    }
  }

  void ReadVersion(const JsonValue& document) {
    const JsonValue* version = document.Find("version");
    if (version == nullptr) {
      Problem("/version", "missing; this is version 1");
    } else if (!version->is(Kind::Integer) || version->integer != 1) {
      Problem("/version", "not 1; this program reads version 1 of requests");
    }
  }

  std::optional<Action> ReadAction(const JsonValue& document) {
    const JsonValue* word = document.Find("action");
    if (word == nullptr) {
      Problem("/action", "missing; it says what is asked, as in \"create\"");
      return std::nullopt;
    }
    std::vector<std::string_view> words;
    for (const schema::ActionInfo& info : schema::Actions()) words.push_back(info.word);
    return OneWord(*word, "/action", words, [](std::string_view w) { return schema::ActionOf(w); });
  }

  std::optional<Stage> ReadStage(const JsonValue& document, Action action) {
    const JsonValue* word = document.Find("stage");
    if (word == nullptr) return Stage::Request;
    if (action != Action::Egress) {
      Problem("/stage", "only `egress` is judged in stages");
      return std::nullopt;
    }
    const std::vector<std::string_view> words = {"name", "address", "request"};
    return OneWord(*word, "/stage", words, [&words](std::string_view w) -> std::optional<Stage> {
      const auto found = std::find(words.begin(), words.end(), w);
      if (found == words.end()) return std::nullopt;
      return static_cast<Stage>(found - words.begin());
    });
  }

  template <typename Find>
  auto OneWord(const JsonValue& word, std::string_view pointer,
               const std::vector<std::string_view>& words, Find find) -> decltype(find("")) {
    if (!word.is(Kind::String)) {
      Problem(pointer, fmt::format("{} where a word is asked for", Describe(word.kind)));
      return std::nullopt;
    }
    auto found = find(word.text);
    if (!found) {
      Problem(pointer, fmt::format("`{}` is unknown{}", Printable(word.text, 60),
                                   DidYouMean(word.text, words)));
    }
    return found;
  }

  // Whether the document's author may say it at all.
  [[nodiscard]] bool MaySay(const Fact& field) const {
    if (!field.known_to_action) return false;
    switch (field.origin) {
      case Origin::Stated:
      case Origin::Wish:
        return true;
      case Origin::Verified:
      case Origin::Internal:
        return stated_by_ == StatedBy::Author;
      case Origin::Derived:
        return false;
    }
    CURFEW_UNREACHABLE("the switch names every origin");
  }

  void ReadObject(const JsonValue& object, const std::string& path, const std::string& pointer) {
    for (const JsonMember& member : object.members) {
      if (problems_.size() >= kProblemsMax) return;
      const bool at_top = path.empty();
      if (at_top && (member.name == "version" || member.name == "action" || member.name == "stage"))
        continue;
      ReadMember(member, at_top ? member.name : path + "." + member.name,
                 PointerTo(pointer, member.name), path);
    }
  }

  void ReadMember(const JsonMember& member, const std::string& path, const std::string& pointer,
                  std::string_view parent) {
    // A name with a dot would spell another attribute's path.
    if (member.name.find('.') != std::string::npos) {
      Problem(pointer, "a name with a dot; the dotted path of an attribute is nesting");
      return;
    }
    const auto exact = std::find_if(fields_.begin(), fields_.end(),
                                    [&path](const Fact& field) { return field.path == path; });
    if (exact != fields_.end() && exact->known_to_action) {
      ReadField(*exact, member.value, pointer);
      return;
    }
    const bool is_subject = std::any_of(fields_.begin(), fields_.end(), [&path](const Fact& field) {
      return field.known_to_action && IsBelowPath(field.path, path);
    });
    if (!is_subject) {
      Problem(pointer, fmt::format("unknown field{}", DidYouMean(member.name, NamesBelow(parent))));
    } else if (!member.value.is(Kind::Object)) {
      Problem(pointer, fmt::format("{} where an object is asked for", Describe(member.value.kind)));
    } else {
      ReadObject(member.value, path, pointer);
    }
  }

  void ReadField(const Fact& field, const JsonValue& value, const std::string& pointer) {
    seen_.set(field.slot);
    if (!MaySay(field)) {
      Problem(pointer, ReasonNotToSay(field));
      return;
    }
    if (IsLater(field.slot, request_->stage())) {
      Problem(pointer, fmt::format("not known yet at the stage `{}`; leave it out",
                                   WordOf(request_->stage())));
      return;
    }
    auto decoded = DecodeValue(value, field.type, arena_);
    if (auto* problem = std::get_if<ValueProblem>(&decoded)) {
      Problem(pointer + problem->below, std::move(problem->message));
    } else if (field.slot == schema::slot::Now) {
      request_->SetNow(std::get<Value>(decoded).integer);
    } else {
      request_->Set(field.slot, std::get<Value>(decoded));
    }
  }

  [[nodiscard]] std::string ReasonNotToSay(const Fact& field) const {
    if (field.origin == Origin::Derived) return "follows from `now` and is never stated";
    if (IsBelowPath(field.path, "task")) {
      return "the task is stated once, at create, and sealed with the sandbox";
    }
    return "the runtime verifies this itself; it cannot be stated";
  }

  // What the document leaves out.
  void Complete(const Fact& field) {
    if (seen_[field.slot] || field.origin == Origin::Derived) return;
    if (!field.known_to_action || field.origin == Origin::Wish) {
      request_->SetAbsent(field.slot);
      return;
    }
    if (IsLater(field.slot, request_->stage())) return;
    const bool is_egress = request_->action() == Action::Egress;
    if (is_egress && field.slot == schema::slot::EgressIp) return;
    if (is_egress && field.slot == schema::slot::EgressHost &&
        request_->is_present(schema::slot::EgressIp)) {
      request_->SetAbsent(field.slot);  // an address was asked for, not a name
      return;
    }
    // An HTTP request has a method and a path; only a byte stream has none.
    const bool is_of_http = is_egress && (field.slot == schema::slot::EgressMethod ||
                                          field.slot == schema::slot::EgressPath);
    if (is_of_http && !IsStream()) return;
    if (field.restated && stated_by_ == StatedBy::Caller) return;
    if (field.optional) {
      if (field.origin == Origin::Stated || stated_by_ == StatedBy::Author) {
        request_->SetAbsent(field.slot);
      }
      return;
    }
    if (field.origin == Origin::Stated && !field.restated) {
      Problem(PointerOf(field.path), fmt::format("missing; `{}` is asked with it ({})",
                                                 WordOf(request_->action()), Describe(field.type)));
    }
  }

  // `tcp`, said by the document.
  [[nodiscard]] bool IsStream() const {
    if (!request_->is_present(schema::slot::EgressScheme)) return false;
    const auto scheme = request_->value(schema::slot::EgressScheme).integer;
    return schema::InfoOf(schema::Enum::Scheme).values[static_cast<std::size_t>(scheme)] == "tcp";
  }

  // The names that may stand directly below `parent`.
  [[nodiscard]] std::vector<std::string_view> NamesBelow(std::string_view parent) const {
    std::vector<std::string_view> names;
    if (parent.empty()) names = {"version", "action", "stage"};
    for (const Fact& field : fields_) {
      if (!MaySay(field)) continue;
      std::string_view rest = field.path;
      if (!parent.empty()) {
        if (!IsBelowPath(rest, parent)) continue;
        rest.remove_prefix(parent.size() + 1);
      }
      names.push_back(rest.substr(0, rest.find('.')));
    }
    return names;
  }

  static std::string DidYouMean(std::string_view written,
                                const std::vector<std::string_view>& names) {
    std::string_view nearest;
    std::size_t distance = 3;
    for (const std::string_view name : names) {
      const std::size_t d = EditDistance(written, name, distance);
      // Half of a short name changed is another name.
      if (d < distance && d * 2 <= name.size()) {
        nearest = name;
        distance = d;
      }
    }
    return nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest);
  }

  void Problem(std::string_view pointer, std::string message) {
    if (problems_.size() < kProblemsMax) {
      problems_.push_back({std::string(pointer), std::move(message)});
    }
  }

  std::span<const DeclaredAttribute> declared_;
  StatedBy stated_by_;
  std::vector<Fact> fields_;
  std::optional<Request> request_;
  ValueArena arena_;
  std::bitset<limits::AttributesPerActionMax> seen_;
  std::vector<RequestProblem> problems_;
};

}  // namespace

RequestDecoding DecodeRequest(const JsonValue& document,
                              std::span<const DeclaredAttribute> declared, StatedBy stated_by) {
  return Decoder(declared, stated_by).Run(document);
}

Result<RequestDecoding> DecodeRequestText(std::string_view text,
                                          std::span<const DeclaredAttribute> declared,
                                          StatedBy stated_by) {
  CURFEW_TRY(const JsonReading reading, ReadJson(text));
  RequestDecoding decoding = DecodeRequest(reading.value, declared, stated_by);
  for (const std::string& pointer : reading.doubled) {
    decoding.decoded.reset();
    if (decoding.problems.size() >= kProblemsMax) break;
    decoding.problems.push_back(
        {pointer, "stands twice; which of the two is meant cannot be said"});
  }
  return decoding;
}

void GiveWholeHost(DecodedRequest& decoded) {
  if (decoded.request.is_known(schema::slot::HostCapabilities)) return;
  std::vector<Value> all;
  for (const std::string_view word : capability::All) all.push_back(Value::OfText(word));
  decoded.request.Set(schema::slot::HostCapabilities,
                      Value::OfItems(decoded.arena.Keep(std::move(all))));
}

}  // namespace curfew::module
