#include "compiler/lint/rule.h"
#include "compiler/values/quantity.h"

namespace curfew::lint {
namespace {

using values::DurationText;

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

// Beyond these a machine, a default, a grace period, a volume or a snapshot is no task's any more.
constexpr std::int64_t kLifeMax = 7 * kDay;
constexpr std::int64_t kDefaultLifeMax = kDay;
constexpr std::int64_t kUnwatchedLifeMax = kHour;
constexpr std::int64_t kGraceMax = 10 * kMinute;
constexpr std::int64_t kPersistMax = 30 * kDay;
constexpr std::int64_t kSnapshotMax = 7 * kDay;
constexpr std::int64_t kRetainLeast = 7 * kDay;

void FindReusedWithoutEnd(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::TtlStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl& sandbox, const syntax::TtlStatement& ttl) {
        const auto longest = DurationOf(MaximumOf(ttl.bound));
        if (sandbox.every || !longest || *longest <= kLifeMax) return;
        sink.Report(ttl.span, diag::ReusedWithoutEnd, sandbox.name.text, DurationText(*longest));
      });
}

void FindNoIdle(const Subject& subject, diagnostics::Sink& sink) {
  for (const syntax::SandboxDecl* sandbox : subject.tree.classes) {
    const auto longest = LargestTtl(subject.tree, *sandbox);
    if (!longest || *longest <= kUnwatchedLifeMax) continue;
    const auto chain = subject.tree.ChainOf(*sandbox);
    if (First<syntax::IdleStatement>(chain) != nullptr) continue;
    // Said once, where the life is stated.
    const auto* ttl = First<syntax::TtlStatement>(std::span(chain).first(1));
    if (ttl == nullptr) continue;
    sink.Report(ttl->span, diag::NoIdle, sandbox->name.text, DurationText(*longest));
  }
}

void FindLongByDefault(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::TtlStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::TtlStatement& ttl) {
        if (!ttl.bound.value) return;
        const auto by_default = DurationOf(*ttl.bound.value);
        const auto longest = DurationOf(MaximumOf(ttl.bound));
        if (!by_default || !longest || *by_default <= kDefaultLifeMax || *longest > kLifeMax) {
          return;
        }
        sink.Report(ttl.bound.value->span, diag::LongByDefault, DurationText(*by_default));
      });
}

void FindIdleBeyondTtl(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::IdleStatement>(subject.tree, [&](const syntax::SandboxDecl& sandbox,
                                                     const syntax::IdleStatement& idle) {
    const auto longest = LargestTtl(subject.tree, sandbox);
    const auto after = DurationOf(idle.after);
    if (!longest || !after || *after < *longest) return;
    sink.Report(idle.after.span, diag::IdleBeyondTtl, DurationText(*after), DurationText(*longest));
  });
}

void FindGraceTooLong(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::GraceStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::GraceStatement& grace) {
        const auto lasts = DurationOf(grace.duration);
        if (!lasts || *lasts <= kGraceMax) return;
        sink.Report(grace.span, diag::GraceTooLong, DurationText(*lasts), DurationText(kGraceMax));
      });
}

void FindExportWithoutGrace(const Subject& subject, diagnostics::Sink& sink) {
  for (const syntax::SandboxDecl* sandbox : subject.tree.classes) {
    const syntax::TransferStatement* exported = nullptr;
    ForEach<syntax::TransferStatement>(*sandbox, [&](const syntax::TransferStatement& transfer) {
      const bool grants =
          transfer.direction == syntax::TransferStatement::Direction::Export && !transfer.none;
      if (grants && exported == nullptr) exported = &transfer;
    });
    if (exported == nullptr) continue;
    if (First<syntax::GraceStatement>(subject.tree.ChainOf(*sandbox)) != nullptr) continue;
    sink.Report(exported->span, diag::ExportWithoutGrace, sandbox->name.text);
  }
}

void FindRenewBeyondTtl(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::RenewStatement>(
      subject.tree, [&](const syntax::SandboxDecl& sandbox, const syntax::RenewStatement& renew) {
        if (renew.none) return;
        const auto chain = subject.tree.ChainOf(sandbox);
        const auto* ttl = First<syntax::TtlStatement>(chain);
        if (ttl == nullptr || !ttl->bound.value) return;
        const auto first = DurationOf(*ttl->bound.value);
        const auto longest = LargestTtl(subject.tree, sandbox);
        if (!first || !longest || *first < *longest) return;
        sink.Report(renew.span, diag::RenewBeyondTtl, DurationText(*longest));
      });
}

std::string_view NameOf(const syntax::PersistStatement& persist) {
  return persist.name ? std::string_view(persist.name->text) : std::string_view();
}

const syntax::KeepItem* ItemOf(const std::vector<syntax::KeepItem>& items,
                               syntax::KeepItem::Kind kind) {
  for (const syntax::KeepItem& item : items) {
    if (item.kind == kind) return &item;
  }
  return nullptr;
}

void FindPersistShared(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::PersistStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::PersistStatement& persist) {
        const auto* shared = ItemOf(persist.items, syntax::KeepItem::Kind::SharedByClass);
        if (shared != nullptr) sink.Report(shared->span, diag::PersistShared, NameOf(persist));
      });
}

void FindPersistLong(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::PersistStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::PersistStatement& persist) {
        const auto* expires = ItemOf(persist.items, syntax::KeepItem::Kind::Expires);
        if (expires == nullptr || !expires->bound) return;
        const auto kept = DurationOf(MaximumOf(*expires->bound));
        if (!kept || *kept <= kPersistMax) return;
        sink.Report(expires->span, diag::PersistLong, NameOf(persist), DurationText(*kept),
                    DurationText(kPersistMax));
      });
}

void FindSnapshotLong(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::SnapshotStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::SnapshotStatement& snapshot) {
        const auto* expires = ItemOf(snapshot.items, syntax::KeepItem::Kind::Expires);
        if (expires == nullptr || !expires->bound) return;
        const auto kept = DurationOf(MaximumOf(*expires->bound));
        if (!kept || *kept <= kSnapshotMax) return;
        sink.Report(expires->span, diag::SnapshotLong, DurationText(*kept),
                    DurationText(kSnapshotMax));
      });
}

void FindSnapshotOfMemory(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::SnapshotStatement>(
      subject.tree,
      [&](const syntax::SandboxDecl& sandbox, const syntax::SnapshotStatement& snapshot) {
        if (!snapshot.kind || snapshot.kind->text != "memory") return;
        const auto chain = subject.tree.ChainOf(sandbox);
        const auto* secrets = First<syntax::SecretsStatement>(chain);
        const bool holds = First<syntax::TokenStatement>(chain) != nullptr ||
                           (secrets != nullptr && !secrets->none);
        if (!holds) return;
        sink.Report(snapshot.kind->span, diag::SnapshotOfMemory, sandbox.name.text);
      });
}

void FindSnapshotRenews(const Subject& subject, diagnostics::Sink& sink) {
  bool is_bounded = false;
  ForEachRule(subject.tree, [&is_bounded](const syntax::Rule& rule) {
    const auto reads = [](const std::optional<syntax::Expr>& expr) {
      return expr && Reads(*expr, "snapshot.lineage_age");
    };
    is_bounded = is_bounded || reads(rule.tail.when) || reads(rule.condition);
  });
  if (is_bounded) return;
  ForEachIn<syntax::SnapshotStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::SnapshotStatement& snapshot) {
        const auto* renews = ItemOf(snapshot.items, syntax::KeepItem::Kind::Renews);
        if (renews != nullptr) sink.Report(renews->span, diag::SnapshotRenews);
      });
}

void FindRetainShort(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::RetainStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::RetainStatement& retain) {
        const auto kept = DurationOf(retain.duration);
        if (!kept || *kept >= kRetainLeast) return;
        sink.Report(retain.span, diag::RetainShort, DurationText(*kept));
      });
}

// By these a task acts on the world; the rest is kept off the record for its bulk.
void FindOffTheRecord(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::RecordStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::RecordStatement& record) {
        for (const syntax::ActionName& name : record.except_allows_of) {
          const bool acts =
              name.action == syntax::Action::Create || name.action == syntax::Action::Resume ||
              name.action == syntax::Action::Exec || name.action == syntax::Action::Egress ||
              name.action == syntax::Action::Export || name.action == syntax::Action::Expose;
          if (acts) sink.Report(name.span, diag::OffTheRecord, syntax::NameOf(name.action));
        }
      });
}

constexpr Rule kRules[] = {
    {diag::ReusedWithoutEnd.code, Category::Lifecycle, "a machine that lives for more than a week",
     FindReusedWithoutEnd},
    {diag::NoIdle.code, Category::Lifecycle,
     "a life of more than an hour that idleness does not end", FindNoIdle},
    {diag::LongByDefault.code, Category::Lifecycle,
     "more than a day for a task that asks for no time", FindLongByDefault},
    {diag::IdleBeyondTtl.code, Category::Lifecycle,
     "an `idle` that comes after the end of every machine", FindIdleBeyondTtl},
    {diag::GraceTooLong.code, Category::Lifecycle,
     "more than ten minutes to run on without authority", FindGraceTooLong},
    {diag::ExportWithoutGrace.code, Category::Lifecycle,
     "results that nothing lets out after the deadline", FindExportWithoutGrace},
    {diag::RenewBeyondTtl.code, Category::Lifecycle,
     "renewals of a life that is as long as it may get", FindRenewBeyondTtl},
    {diag::PersistShared.code, Category::Lifecycle, "a volume that tasks of all owners share",
     FindPersistShared},
    {diag::PersistLong.code, Category::Lifecycle, "a volume that is kept for more than 30 days",
     FindPersistLong},
    {diag::SnapshotLong.code, Category::Lifecycle,
     "a snapshot that may be kept for more than a week", FindSnapshotLong},
    {diag::SnapshotOfMemory.code, Category::Lifecycle,
     "snapshots of memory in a class that hands out credentials", FindSnapshotOfMemory},
    {diag::SnapshotRenews.code, Category::Lifecycle, "a line of snapshots that may go on for ever",
     FindSnapshotRenews},
    {diag::RetainShort.code, Category::Lifecycle, "records that are kept for less than a week",
     FindRetainShort},
    {diag::OffTheRecord.code, Category::Lifecycle, "acts of a task that stay off the record",
     FindOffTheRecord},
};

}  // namespace

std::span<const Rule> LifecycleRules() { return kRules; }

}  // namespace curfew::lint
