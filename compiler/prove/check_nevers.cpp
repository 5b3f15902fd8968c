#include "compiler/prove/check_nevers.h"

#include "compiler/explain/story.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/module/request_json.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::prove {
namespace {

constexpr std::size_t kFactsTold = 12;

// What the conditions of the never and of the allows read of the request.
std::string FactsOf(const module::PolicyModule& policy, const explain::Story& story,
                    module::RuleIndex never) {
  std::set<schema::Slot> slots;
  const auto add = [&](const explain::Cause& cause) {
    for (const explain::Clause& clause : cause.clauses) {
      for (const schema::Slot slot : explain::SlotsRead(policy.tables(), clause.node)) {
        slots.insert(slot);
      }
    }
  };
  for (const explain::Cause& cause : story.denials) {
    if (cause.rule == never) add(cause);
  }
  for (const explain::Cause& cause : story.allows) add(cause);
  const explain::Vocabulary vocabulary(policy, story.judged.action());
  std::vector<std::string> facts;
  for (const schema::Slot slot : slots) {
    if (facts.size() == kFactsTold) {
      facts.emplace_back("…");
      break;
    }
    facts.push_back(vocabulary.SeenIn(story.judged, slot));
  }
  return fmt::format("{}", fmt::join(facts, ", "));
}

// The request of a counterexample in words; nothing where it is none.
std::optional<std::string> WordsOf(const interpret::Interpreter& engine, const Answer& answer) {
  const module::PolicyModule& policy = engine.module();
  auto decoding =
      module::DecodeRequestText(answer.text, policy.declared(), module::StatedBy::Author);
  if (!decoding || !*decoding) return std::nullopt;
  module::GiveWholeHost(*decoding->decoded);
  const module::Request& request = decoding->decoded->request;
  module::VerdictRoom room;
  engine.Decide(request, room.verdict);
  const auto denials = room.verdict.denials.written();
  if (!OnlyNeversDeny(policy, room.verdict) ||
      std::find(denials.begin(), denials.end(), answer.never) == denials.end()) {
    return std::nullopt;
  }
  const explain::Story story = explain::StoryOf(policy, request, room.verdict);
  return fmt::format("{} in class `{}` with {}", schema::WordOf(request.action()),
                     policy.class_name(room.verdict.class_index),
                     FactsOf(policy, story, answer.never));
}

void ReportRefuted(const model::PolicyModel& model, const interpret::Interpreter& engine,
                   const Answer& answer, source::Span span, diagnostics::Sink& sink) {
  const auto words = WordsOf(engine, answer);
  if (!words) {
    sink.Report(span, diag::NeverUndecided,
                "internal fault: a counterexample was found that shows nothing when it is asked");
    return;
  }
  auto draft = sink.Report(span, diag::NeverRefuted, *words);
  for (const module::RuleIndex allow : answer.allows) {
    const std::string_view id = engine.module().rule(allow).id;
    const source::Span place = model::SpanOf(model, id);
    if (!place.is_nowhere()) draft.Note(place, diag::AllowedBy, id);
  }
}

}  // namespace

void ReportAnswers(const model::PolicyModel& model, ByteView module,
                   std::span<const Answer> answers, diagnostics::Sink& sink) {
  auto policy = module::PolicyModule::Load(module, 0);
  CURFEW_CHECK(policy.has_value(), "what was just compiled loads");
  const interpret::Interpreter engine(*std::move(policy));
  for (const Answer& answer : answers) {
    const source::Span span = model::SpanOf(model, engine.module().rule(answer.never).id);
    switch (answer.outcome) {
      case Outcome::Proven:
        break;
      case Outcome::Refuted:
        ReportRefuted(model, engine, answer, span, sink);
        break;
      case Outcome::Undecided:
        sink.Report(span, diag::NeverUndecided, answer.text);
        break;
    }
  }
}

void CheckNevers(const model::PolicyModel& model, ByteView module, const std::string& library,
                 diagnostics::Sink& sink) {
  const auto first = std::ranges::find(model.rules, true, &model::Rule::never);
  if (first == model.rules.end()) return;
  const auto policy = module::PolicyModule::Load(module, 0);
  CURFEW_CHECK(policy.has_value(), "what was just compiled loads");
  const auto answers = ProveNevers(library, module, NeversOf(*policy));
  if (!answers) {
    sink.Report(first->span, diag::NeverUnproven, answers.error().message);
    return;
  }
  ReportAnswers(model, module, *answers, sink);
}

}  // namespace curfew::prove
