// What a class grants, in words: one line each, as the language spells it.
#pragma once

#include "compiler/module/plan_template.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::inspect {

// "1h at most 8h", "at most 8h", "8h"; `text` spells one value.
std::string BoundText(const module::Bound& bound, std::string (*text)(std::int64_t));
std::string VolumeText(const module::Volume& volume);
std::string SnapshotText(const module::SnapshotGrant& grant);
std::string TransferText(const module::TransferGrant& grant);
std::vector<std::string> LimitTexts(const module::EgressLimits& limits);
// "all except egress allow".
std::string RecordText(const module::Evidence& evidence);

// The actions whose allows may stay off the record.
std::vector<std::string_view> UnrecordedAllowsOf(const module::Evidence& evidence);
std::string_view WordOf(module::SnapshotKind kind);

}  // namespace curfew::inspect
