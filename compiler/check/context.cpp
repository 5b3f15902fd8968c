#include "compiler/check/context.h"

#include "compiler/base/crypto.h"
#include "compiler/base/limits.h"

#include <fmt/format.h>

namespace curfew::check {
namespace {

// 48 bits.
std::string ShortHash(std::string_view text) {
  const Digest digest = Sha256(AsBytes(text));
  return Hex(std::span(digest.bytes).first(6));
}

}  // namespace

std::optional<std::string> ClaimId(Context& context, std::string_view scope,
                                   const std::optional<syntax::Name>& label,
                                   std::string_view effect, std::string_view text, Span span) {
  if (context.ids.size() >= limits::RulesMax) {
    if (!context.too_many_rules) {
      context.sink.Report(span, diag::TooManyRules, static_cast<std::int64_t>(limits::RulesMax));
    }
    context.too_many_rules = true;
    return std::nullopt;
  }
  const std::string said = fmt::format("{} {}", effect, text);
  if (label && !IsFreeLabel(label->text)) {
    context.sink.Report(label->span, diag::NameNotFree, label->text, "a rule");
    return std::nullopt;
  }
  if (label && label->text.size() > NameBytesMax) {
    context.sink.Report(label->span, diag::NameTooLong, static_cast<std::int64_t>(NameBytesMax));
    return std::nullopt;
  }
  std::string id = label ? fmt::format("{}.{}", scope, label->text)
                         : fmt::format("{}.{}_{}", scope, effect, ShortHash(said));
  const auto [place, fresh] = context.ids.try_emplace(id, Context::ClaimedId{said, span});
  if (fresh) return id;
  if (label) {
    context.sink.Report(label->span, diag::NameTaken, label->text)
        .Note(place->second.span, diag::DeclaredHere, label->text);
  } else if (place->second.text != said) {
    context.sink.Report(span, diag::IdCollision, id).Note(place->second.span, diag::FirstHere);
  }
  return std::nullopt;
}

void ReportUnknown(Context& context, std::string_view what, const syntax::Name& name,
                   std::span<const std::string_view> candidates) {
  const Guess guess = Nearest(name.text, candidates);
  OfferGuess(context.sink.Report(name.span, diag::UnknownName, what, name.text, DidYouMean(guess)),
             name.span, guess);
}

}  // namespace curfew::check
