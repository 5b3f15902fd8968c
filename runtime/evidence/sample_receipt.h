// A receipt with something in every field, for tests.
#pragma once

#include "runtime/evidence/receipt.h"

namespace curfew::evidence {

inline ResidueReport CleanReport() {
  ResidueReport report;
  for (const ResidueClass one : ResidueClasses) report.classes.push_back({one, 5, 1, 0, 0, 0});
  return report;
}

inline Receipt SampleReceipt() {
  Receipt receipt;
  receipt.sandbox = {"cf-aaaabbbbcccc2345", std::string(32, 'a')};
  receipt.task_id = "task-7";
  receipt.owner = "team:infra";
  receipt.creator = "user:ana";
  receipt.sandbox_class = "build";
  receipt.policy_digest = ToString(Sha256(AsBytes("policy")));
  receipt.policy_generation = 3;
  receipt.reloads = {{1'770'000'003'000, ToString(Sha256(AsBytes("tighter"))), 4}};
  receipt.image_digest = ToString(Sha256(AsBytes("image")));
  receipt.isolation = Isolation::Emulated;
  receipt.requested_ms = 1'770'000'000'000;
  receipt.ready_ms = 1'770'000'001'900;
  receipt.deadline_ms = 1'770'000'600'000;
  receipt.grace_ms = 5'000;
  receipt.ended_ms = 1'770'000'004'500;
  receipt.closing_ms = 1'770'000'004'000;
  receipt.closed_ms = 1'770'000'005'000;
  receipt.close_reason = "the task is done";
  receipt.decisions = {12, 1};
  receipt.commands = {{{"python3", "work.py"}, true, true, "", 0, std::nullopt, false},
                      {{"curl", "x"}, false, false, "rule no_curl: not here", {}, {}, false},
                      {{"sleep", "9"}, true, true, "", std::nullopt, 9, true},
                      {{"make"}, true, false, "no such folder", {}, {}, false},
                      {{"vi"}, {}, false, "not found in PATH", {}, {}, false},
                      {{"daemon"}, true, true, "it was still running", {}, {}, false}};
  // Hostile: no UTF-8, a line break, an escape sequence, a separator that some take for a line's
  // end.
  receipt.processes = {{41, {"python3", "-m", "http.server"}, "terminated"},
                       {42, {"\xff\xfe\n\x1b[2J", "a\xe2\x80\xa8verdict    clean"}, "killed"}};
  receipt.resources = {{"machine", "pid 4711 start 8812", Fate::Destroyed, ""},
                       {"cgroup", "/sys/fs/cgroup/pids/cf-aaaabbbbcccc2345", Fate::Destroyed, ""}};
  receipt.exports = {{"out/report 1.json", 1234, Sha256(AsBytes("report"))}};
  receipt.residue = CleanReport();
  receipt.record_count = 1;
  return receipt;
}

}  // namespace curfew::evidence
