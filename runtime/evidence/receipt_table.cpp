#include "runtime/evidence/canonical_json.h"
#include "runtime/evidence/receipt.h"
#include "runtime/host/clock.h"

#include <map>

#include <fmt/format.h>

namespace curfew::evidence {

namespace {

constexpr std::size_t RowsMax = 20;  // of one list; the rest is counted

std::string Row(std::string_view name, std::string_view text) {
  return fmt::format("{:<10} {}\n", name, text);
}

std::string Arguments(const std::vector<std::string>& argv) {
  std::string text;
  for (const std::string& argument : argv) {
    if (!text.empty()) text.push_back(' ');
    const std::string safe = Printable(argument, 80);
    const bool plain = !argument.empty() && safe.find_first_of(" '\"\\") == std::string::npos;
    text += plain ? safe : fmt::format("\"{}\"", safe);
  }
  return text.empty() ? "(no arguments)" : text;
}

std::string After(std::int64_t start_ms, std::int64_t ms) {
  return fmt::format("{:+.1f} s", static_cast<double>(ms - start_ms) / 1000);
}

std::string OutcomeOf(const CommandResult& command) {
  if (command.allowed == false) return "denied";
  if (!command.started) return "not run";
  if (command.timed_out) return "time over";
  if (command.signal) return fmt::format("signal {}", *command.signal);
  if (command.exit_status) return fmt::format("exit {}", *command.exit_status);
  return "not ended";
}

template <typename Item, typename Render>
std::string Rows(const std::vector<Item>& items, std::uint64_t omitted, Render render) {
  std::string text;
  for (std::size_t i = 0; i < items.size() && i < RowsMax; ++i) text += "  " + render(items[i]);
  const std::uint64_t hidden = omitted + (items.size() > RowsMax ? items.size() - RowsMax : 0);
  if (hidden > 0) text += fmt::format("  … and {} more\n", hidden);
  return text;
}

std::string Times(const Receipt& receipt) {
  const std::int64_t start = receipt.requested_ms;
  std::string text = "requested " + host::Rfc3339(start);
  if (receipt.ready_ms) text += ", ready " + After(start, *receipt.ready_ms);
  text += ", closing " + After(start, receipt.closing_ms);
  text += ", closed " + After(start, receipt.closed_ms);
  if (receipt.deadline_ms) text += ", deadline " + host::Rfc3339(*receipt.deadline_ms);
  return text;
}

std::string Overrun(const Receipt& receipt, std::int64_t overrun_ms) {
  const std::string by = fmt::format("{:.1f} s", static_cast<double>(overrun_ms) / 1000);
  if (!receipt.is_late()) return by + " after deadline and grace: what its end took";
  return fmt::format("LATE: seen to be gone {} after deadline and grace, {}", by,
                     host::Rfc3339(*receipt.ended_ms));
}

std::string Resources(const Receipt& receipt) {
  std::map<Fate, std::size_t> counts;
  for (const ResourceOutcome& resource : receipt.resources) ++counts[resource.fate];
  return fmt::format("{} destroyed, {} kept, {} unknown", counts[Fate::Destroyed],
                     counts[Fate::Kept], counts[Fate::Unknown]);
}

std::string Residue(const ResidueReport& report) {
  std::uint64_t looked_at = 0;
  std::uint64_t passed_over = 0;
  for (const ResidueCount& count : report.classes) {
    looked_at += count.looked_at;
    passed_over += count.passed_over;
  }
  std::string text =
      fmt::format("{}: {} of {} searched", NameOf(report.verdict()), Counted(looked_at, "thing"),
                  Counted(report.classes.size(), "class", "classes"));
  if (passed_over > 0) {
    text += fmt::format(", {} older than the sandbox passed over", passed_over);
  }
  return text;
}

std::string Flows(const FlowSummary& flows) {
  const auto total = [](const auto& rows) {
    std::uint64_t sum = 0;
    for (const auto& row : rows) sum += row.requests;
    return sum;
  };
  std::string text;
  if (!flows.reached.empty()) {
    text += Row("reached", fmt::format("{} requests", total(flows.reached)));
    text += Rows(flows.reached, flows.reached_omitted, [](const ReachedPlace& row) {
      const std::string failed =
          row.failed == 0 ? "" : fmt::format("  ({} did not end as they should)", row.failed);
      return fmt::format("{}  {} requests, {} bytes out, {} bytes in{}\n",
                         Printable(row.place, 120), row.requests, row.bytes_out, row.bytes_in,
                         failed);
    });
  }
  if (!flows.refused.empty()) {
    text += Row("refused", fmt::format("{} requests", total(flows.refused)));
    text += Rows(flows.refused, flows.refused_omitted, [](const RefusedPlace& row) {
      return fmt::format("{}  {} requests, by {}\n", Printable(row.place, 120), row.requests,
                         Printable(row.rule, 160));
    });
  }
  if (flows.lost > 0) text += Row("lost", fmt::format("{} flows have no record", flows.lost));
  return text;
}

}  // namespace

std::string RenderReceipt(const Receipt& receipt) {
  std::string text = Row("receipt", ToString(receipt.sandbox));
  text += Row("task", fmt::format("{} of {}, asked by {}, class {}", Printable(receipt.task_id, 80),
                                  Printable(receipt.owner, 80), Printable(receipt.creator, 80),
                                  Printable(receipt.sandbox_class, 80)));
  text += Row("policy", fmt::format("{} generation {}", Printable(receipt.policy_digest, 80),
                                    receipt.policy_generation));
  if (!receipt.reloads.empty()) {
    text +=
        Row("reloaded", fmt::format("{} times", receipt.reloads.size() + receipt.reloads_omitted));
    text += Rows(receipt.reloads, receipt.reloads_omitted, [&](const PolicyChange& change) {
      return fmt::format("{} generation {}, {}\n", Printable(change.digest, 80), change.generation,
                         After(receipt.requested_ms, change.at_ms));
    });
  }
  text += Row("image", Printable(receipt.image_digest, 80));
  switch (receipt.isolation) {
    case Isolation::Kvm:
      text += Row("isolation", "kvm");
      break;
    case Isolation::Emulated:
      text += Row("isolation", "emulated; emulation is no security boundary");
      break;
    case Isolation::None:
      text += Row("isolation", "no machine was started");
      break;
  }
  text += Row("times", Times(receipt));
  if (const std::int64_t overrun_ms = receipt.overrun_ms().value_or(0); overrun_ms > 0) {
    text += Row("overrun", Overrun(receipt, overrun_ms));
  }
  text += Row("closed", Printable(receipt.close_reason));
  if (!receipt.keeper_note.empty()) text += Row("keeper", Printable(receipt.keeper_note));
  text += Row("decisions", fmt::format("{} allowed, {} denied", receipt.decisions.allowed,
                                       receipt.decisions.denied));
  text += Row("commands", std::to_string(receipt.commands.size() + receipt.commands_omitted));
  text += Rows(receipt.commands, receipt.commands_omitted, [](const CommandResult& command) {
    const std::string reason =
        command.reason.empty() ? "" : fmt::format("  ({})", Printable(command.reason, 160));
    return fmt::format("{:<10} {}{}\n", OutcomeOf(command), Arguments(command.argv), reason);
  });
  text += Row("ended", Counted(receipt.processes.size() + receipt.processes_omitted, "process",
                               "processes"));
  text += Rows(receipt.processes, receipt.processes_omitted, [](const EndedProcess& process) {
    return fmt::format("{:<10} pid {} {}\n", Printable(process.how, 24), process.pid,
                       Arguments(process.argv));
  });
  text += Row("resources", Resources(receipt));
  text += Rows(receipt.resources, 0, [](const ResourceOutcome& resource) {
    const std::string detail =
        resource.detail.empty() ? "" : fmt::format("  ({})", Printable(resource.detail, 160));
    return fmt::format("{:<10} {} {}{}\n", NameOf(resource.fate),
                       Printable(resource.resource_class, 24), Printable(resource.identity, 120),
                       detail);
  });
  text += Row("exports", std::to_string(receipt.exports.size()));
  text += Rows(receipt.exports, 0, [](const ExportedFile& file) {
    return fmt::format("{}  {}  {}\n", Printable(file.name, 120), Counted(file.bytes, "byte"),
                       ToString(file.digest));
  });
  text += Flows(receipt.flows);
  text += Row("residue", Residue(receipt.residue));
  text += Rows(receipt.residue.findings, 0, [](const ResidueFinding& finding) {
    return fmt::format("{:<10} {} {}  ({})\n", NameOf(finding.fate), NameOf(finding.residue_class),
                       Printable(finding.identity, 160), Printable(finding.why, 160));
  });
  if (receipt.supersedes) {
    text += Row("supersedes", fmt::format("the receipt {}", ToString(*receipt.supersedes)));
  }
  text += Row("records",
              fmt::format("{}, head {}", receipt.record_count, ToString(receipt.record_head)));
  text += Row("verdict", NameOf(receipt.verdict()));
  return text;
}

}  // namespace curfew::evidence
