#include "compiler/inspect/plan_text.h"

#include "compiler/values/quantity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::inspect {

std::string BoundText(const module::Bound& bound, std::string (*text)(std::int64_t)) {
  if (!bound.standard) return "at most " + text(bound.most);
  if (*bound.standard == bound.most) return text(bound.most);
  return fmt::format("{} at most {}", text(*bound.standard), text(bound.most));
}

std::string VolumeText(const module::Volume& volume) {
  return fmt::format("{} at {}, {}, of {}, expires {}{}", volume.name, volume.path,
                     values::SizeText(volume.bytes), volume.owner,
                     values::DurationText(volume.expires_ms),
                     volume.shared_by_class ? ", shared by class" : "");
}

std::string SnapshotText(const module::SnapshotGrant& grant) {
  std::string text = fmt::format("{} for at most {}", WordOf(grant.kind),
                                 values::DurationText(grant.expires_ms.most));
  if (grant.bytes_most) text += fmt::format(", {} each", values::SizeText(*grant.bytes_most));
  if (grant.keep_most) text += fmt::format(", {} kept", *grant.keep_most);
  text += fmt::format(", {} run from one", grant.branches_most);
  if (grant.renews) text += ", renews";
  return text;
}

std::string TransferText(const module::TransferGrant& grant) {
  return fmt::format("{} {}at most {}", fmt::join(grant.patterns, ", "), grant.each ? "each " : "",
                     values::SizeText(grant.bytes_most));
}

std::vector<std::string> LimitTexts(const module::EgressLimits& limits) {
  std::vector<std::string> texts;
  if (limits.requests) {
    texts.push_back(fmt::format("{} requests per {}", *limits.requests,
                                values::DurationText(limits.window_ms)));
  }
  if (limits.request_bytes) {
    texts.push_back(values::SizeText(*limits.request_bytes) + " per request");
  }
  if (limits.total_bytes) texts.push_back(values::SizeText(*limits.total_bytes) + " in all");
  return texts;
}

std::vector<std::string_view> UnrecordedAllowsOf(const module::Evidence& evidence) {
  std::vector<std::string_view> words;
  for (const schema::ActionInfo& info : schema::Actions()) {
    if (evidence.unrecorded_allows[static_cast<std::size_t>(info.action)]) {
      words.push_back(info.word);
    }
  }
  return words;
}

std::string RecordText(const module::Evidence& evidence) {
  std::string exceptions;
  for (const std::string_view action : UnrecordedAllowsOf(evidence)) {
    exceptions.append(exceptions.empty() ? " except " : ", ").append(action).append(" allow");
  }
  return "all" + exceptions;
}

std::string_view WordOf(module::SnapshotKind kind) {
  return schema::InfoOf(schema::Enum::SnapshotKind).values[static_cast<std::size_t>(kind)];
}

}  // namespace curfew::inspect
