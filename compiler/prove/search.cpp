#include "compiler/prove/search.h"

#include "compiler/module/capability.h"
#include "compiler/module/entry_index.h"
#include "compiler/prove/class_choice.h"
#include "compiler/prove/request_text.h"

#include <algorithm>
#include <set>

namespace curfew::prove {

using module::ClassIndex;
using module::EntryRecord;
using module::NoIndex;
using module::Range;
using schema::Action;

namespace {

constexpr std::size_t kUsualMost = 24;
constexpr std::size_t kRoundsMost = 200;
// What is brought in at once where the question is left open.
constexpr std::size_t kDenialsMost = 256;
// Of one allow, or of one name, that are looked up beforehand.
constexpr std::size_t kHostsMost = 16;
// Asking the interpreter, beside asking the solver.
constexpr std::uint64_t kStepsOfRound = 1000;

void Take(std::uint64_t& steps, std::uint64_t taken) { steps -= std::min(steps, taken); }

}  // namespace

Decided DecisionOf(const interpret::Interpreter& engine, const module::Request& request) {
  module::VerdictRoom room;
  engine.Decide(request, room.verdict);
  const auto denials = room.verdict.denials.written();
  const auto allows = room.verdict.allows.written();
  return {room.verdict.effect,
          room.verdict.class_index,
          module::OnlyNeversDeny(engine.module(), room.verdict),
          !room.verdict.denials.overflowed() && !room.verdict.undecided,
          {denials.begin(), denials.end()},
          {allows.begin(), allows.end()}};
}

struct Search::Way {
  ClassIndex of_class = 0;
  View view;
  Box box;
  Question question;                // without the denials
  std::vector<Claim> learnt;        // further claims
  std::set<std::uint32_t> denials;  // entries that must not hold
  module::ValueArena arena;
};

Search::Search(const FactSpace& space, std::vector<const interpret::Interpreter*> engines,
               Solver& solver)
    : space_(space), engines_(std::move(engines)), solver_(solver) {}

std::size_t Search::BlockOf(Side side, ClassIndex of_class) const {
  const std::size_t classes = space_.tables(side).classes.size();
  return of_class == module::NoClass ? module::GoneBlock(classes, space_.action())
                                     : module::BlockOf(of_class, space_.action());
}

View Search::ViewOf(Side side, ClassIndex of_class) const {
  return {side, static_cast<std::uint32_t>(BlockOf(side, of_class))};
}

View Search::ViewOfDenial(Side side, ClassIndex of_class, std::uint32_t entry) const {
  const module::Tables& t = space_.tables(side);
  for (const std::size_t block :
       {module::SetBlock(t.classes.size(), space_.action()), BlockOf(side, of_class)}) {
    const Range checks = t.blocks[block].checks;
    if (entry >= checks.first && entry < checks.first + checks.count) return {side, NoIndex};
  }
  return ViewOf(side, of_class);
}

std::string Search::NameOf(ClassIndex of_class) const {
  if (of_class != module::NoClass) return std::string(space_.policy(0).class_name(of_class));
  std::string name = "gone";
  const auto is_taken = [&] {
    return std::ranges::any_of(engines_, [&](const interpret::Interpreter* engine) {
      return engine->module().FindClass(name).has_value();
    });
  };
  while (is_taken()) name += "_";
  return name;
}

std::vector<std::string> Search::ClassNames() const {
  std::vector<std::string> names;
  for (const interpret::Interpreter* engine : engines_) {
    const module::PolicyModule& policy = engine->module();
    for (ClassIndex i = 0; i < policy.class_count(); ++i) names.emplace_back(policy.class_name(i));
  }
  return names;
}

bool Search::IsPutAside(const Wanted& wanted, std::uint32_t entry) const {
  const module::Tables& t = space_.tables(0);
  const module::RuleIndex rule = t.entries[entry].rule;
  // Without a rule that is taken away, a never may be all that denies: that is an answer too.
  const bool puts_nevers_aside = wanted.never || !wanted.absent.empty();
  return wanted.absent.contains(rule) || (puts_nevers_aside && t.rules[rule].never != 0);
}

// ---- The class of a create ----------------------------------------------------------------------

std::vector<Claim> Search::Unselected(Side side, ClassIndex of_class,
                                      const module::Request& request) const {
  const module::Tables& t = space_.tables(side);
  const View raw{side, NoIndex};
  std::vector<Claim> claims;
  for (ClassIndex other = 0; other < t.classes.size(); ++other) {
    if (other == of_class || t.classes[other].by_name != 0) continue;
    if (interpret::Evaluate(t, request.facts(), t.classes[other].when).is_false()) continue;
    std::vector<Claim> away{Claim::Of(Claim::Kind::IsFalse, raw, t.classes[other].when)};
    const Range links = t.classes[other].narrowed_by;
    bool is_narrowed = false;
    for (const ClassIndex narrower : t.class_links.subspan(links.first, links.count)) {
      is_narrowed = is_narrowed || narrower == of_class;
      if (t.classes[narrower].by_name != 0) continue;
      away.push_back(Claim::Of(Claim::Kind::IsTrue, raw, t.classes[narrower].when));
    }
    if (!is_narrowed) claims.push_back(Claim::Some(std::move(away)));
  }
  return claims;
}

// ---- Denials ------------------------------------------------------------------------------------

std::vector<std::uint32_t> Search::AllDenials(Side side, ClassIndex of_class) const {
  const module::Tables& t = space_.tables(side);
  std::vector<std::uint32_t> entries;
  for (const std::size_t block :
       {module::SetBlock(t.classes.size(), space_.action()), BlockOf(side, of_class)}) {
    for (const Range range : {t.blocks[block].checks, t.blocks[block].denials}) {
      for (std::uint32_t i = 0; i < range.count; ++i) entries.push_back(range.first + i);
    }
  }
  return entries;
}

std::vector<std::uint32_t> Search::DenialsOf(Side side, ClassIndex of_class,
                                             module::RuleIndex rule) const {
  std::vector<std::uint32_t> entries = AllDenials(side, of_class);
  const auto& all = space_.tables(side).entries;
  std::erase_if(entries, [&](std::uint32_t entry) { return all[entry].rule != rule; });
  return entries;
}

bool Search::AddDenials(Way& way, const Wanted& wanted, std::size_t most) {
  const std::size_t before = way.denials.size();
  const module::Tables& t = space_.tables(0);
  for (const std::uint32_t entry : AllDenials(0, way.of_class)) {
    if (way.denials.size() >= before + most) break;
    if (IsPutAside(wanted, entry)) continue;
    if (way.box.MayBeTrue(0, t.entries[entry].condition)) way.denials.insert(entry);
  }
  return way.denials.size() > before;
}

// Denials of the very names that an allow opens: what people write beside it.
void Search::AddDenialsOfItsHosts(Way& way, const Wanted& wanted, std::uint32_t allow) {
  const module::Tables& t = space_.tables(0);
  const std::uint32_t condition = t.entries[allow].condition;
  if (condition == module::NoIndex || t.nodes[condition].op != module::NodeOp::And) return;
  std::set<std::uint32_t> indexes;
  for (const std::size_t block :
       {module::SetBlock(t.classes.size(), space_.action()), BlockOf(0, way.of_class)}) {
    const std::uint32_t first = t.block_indexes[block];
    if (first == module::NoIndex) continue;
    for (std::uint32_t i = 0; i <= t.indexes[first].beside; ++i) indexes.insert(first + i);
  }
  for (const std::uint32_t child : t.children.subspan(t.nodes[condition].a, t.nodes[condition].b)) {
    const module::NodeRecord& node = t.nodes[child];
    if (node.op != module::NodeOp::HostIn || node.c > kHostsMost) continue;
    for (const module::PatternRecord& pattern : t.patterns.subspan(node.b, node.c)) {
      const std::string_view name = t.TextOf(pattern.text);
      const module::KeyRecord* key = module::FindKey(t, name, name.size(), module::HashOf(name));
      if (key == nullptr || key->postings.count > kHostsMost) continue;
      for (const auto& posting : t.postings.subspan(key->postings.first, key->postings.count)) {
        if (!indexes.contains(posting.index) || IsPutAside(wanted, posting.entry)) continue;
        if (way.box.MayBeTrue(0, t.entries[posting.entry].condition)) {
          way.denials.insert(posting.entry);
        }
      }
    }
  }
}

bool Search::Learn(Way& way, const module::Request& request, const Decided& decided,
                   const Wanted& wanted) {
  bool is_new = false;
  for (const module::RuleIndex rule : decided.denials) {
    for (const std::uint32_t entry : DenialsOf(0, way.of_class, rule)) {
      if (IsPutAside(wanted, entry)) continue;
      if (!way.denials.insert(entry).second) continue;
      is_new = true;
      if (std::ranges::find(usual_, entry) != usual_.end()) continue;
      if (usual_.size() == kUsualMost) usual_.erase(usual_.begin());
      usual_.push_back(entry);
    }
  }
  if (space_.action() == Action::Create && decided.class_index != way.of_class) {
    std::vector<Claim> claims = Unselected(0, way.of_class, request);
    is_new = is_new || !claims.empty();
    for (Claim& claim : claims) way.learnt.push_back(std::move(claim));
  }
  return is_new;
}

// ---- One allow ----------------------------------------------------------------------------------

bool Search::IsLetOut(const Decided& decided, const Wanted& wanted) const {
  if (wanted.never) {
    return decided.only_nevers_deny &&
           std::ranges::find(decided.denials, *wanted.never) != decided.denials.end();
  }
  if (decided.effect == module::Effect::Allow || wanted.absent.empty()) {
    return decided.effect == module::Effect::Allow;
  }
  const auto& rules = space_.tables(0).rules;
  return decided.is_whole && std::ranges::all_of(decided.denials, [&](module::RuleIndex rule) {
           return wanted.absent.contains(rule) || rules[rule].never != 0;
         });
}

Finding Search::Confirm(const Way& way, const Wanted& wanted, const Witness& witness,
                        const module::Request& request) {
  module::ValueArena arena;
  Finding finding;
  finding.request = TextOf(space_, 0, request);
  if (engines_.size() > 1) finding.other = TextOf(space_, 1, RequestOf(space_, 1, witness, arena));
  const auto complete = [](module::DecodedRequest& decoded) {
    std::vector<module::Value> all;
    for (const std::string_view word : module::capability::All) {
      all.push_back(module::Value::OfText(word));
    }
    decoded.request.Set(schema::slot::HostCapabilities,
                        module::Value::OfItems(decoded.arena.Keep(std::move(all))));
  };
  const auto unstated = [&] {
    finding.kind = Finding::Kind::Unknown;
    finding.why =
        "a request was found that no document can state (parts of a second, or TLS that hides its "
        "HTTP), so that it cannot be shown";
    return finding;
  };
  const auto read = [&](Side side, const std::string& text) {
    auto decoding =
        module::DecodeRequestText(text, space_.policy(side).declared(), module::StatedBy::Author);
    if (!decoding || !*decoding) return std::optional<module::DecodedRequest>();
    complete(*decoding->decoded);
    return std::optional(std::move(*decoding->decoded));
  };
  const auto decoded = read(0, finding.request);
  if (!decoded) return unstated();
  finding.decided = DecisionOf(*engines_[0], decoded->request);
  if (!IsLetOut(finding.decided, wanted) || finding.decided.class_index != way.of_class) {
    return unstated();
  }
  if (wanted.judge) {
    const auto other = read(last_side(), engines_.size() > 1 ? finding.other : finding.request);
    if (!other || wanted.judge(other->request)) return unstated();
  }
  finding.kind = Finding::Kind::Found;
  return finding;
}

namespace {

// A request that a document can state is asked for first, and then any; where none is expected, any
// first, since one question is enough if there is none.
Solver::Answer AnswerOf(Encoding& encoding, bool expects_none, std::uint64_t& steps) {
  if (expects_none && encoding.has_unstatable()) {
    const Solver::Answer any = encoding.SolveClosed(steps);
    if (any != Solver::Answer::Satisfiable) return any;
  }
  const Solver::Answer statable = encoding.SolveStatable(steps);
  if (statable != Solver::Answer::Unsatisfiable || !encoding.has_unstatable()) return statable;
  return encoding.SolveClosed(steps);
}

}  // namespace

Finding Search::Try(Way& way, const Wanted& wanted, std::uint64_t& steps) {
  const auto unknown = [](std::string why) {
    Finding finding;
    finding.kind = Finding::Kind::Unknown;
    finding.why = std::move(why);
    return finding;
  };
  const module::Tables& t = space_.tables(0);
  std::size_t batch = 2;
  bool is_all = false;
  for (std::size_t round = 0; round < kRoundsMost && steps > 0; ++round) {
    Take(steps, kStepsOfRound);
    Question question = way.question;
    for (const Claim& claim : way.learnt) question.claims.push_back(claim);
    for (const std::uint32_t entry : way.denials) {
      question.claims.push_back(Claim::Of(
          Claim::Kind::IsFalse, ViewOfDenial(0, way.of_class, entry), t.entries[entry].condition));
    }
    Encoding encoding(space_, solver_, way.arena);
    encoding.Ask(question);
    Solver::Answer answer = AnswerOf(encoding, !way.denials.empty(), steps);
    if (answer == Solver::Answer::Spent) break;
    if (answer == Solver::Answer::Unsatisfiable) {
      if (encoding.is_exact() || encoding.SolveOpen(steps) == Solver::Answer::Unsatisfiable) {
        return {};
      }
      // Where something was left open, further denials may still close it.
      if (is_all || !AddDenials(way, wanted, kDenialsMost)) return unknown(encoding.why_not());
      is_all = true;
      continue;
    }
    const Witness witness = encoding.Read();
    const module::Request request = RequestOf(space_, 0, witness, way.arena);
    const Decided decided = DecisionOf(*engines_[0], request);
    if (!IsLetOut(decided, wanted) || decided.class_index != way.of_class) {
      if (!Learn(way, request, decided, wanted)) {
        if (!encoding.is_exact()) return unknown(encoding.why_not());
        std::string why = "the interpreter answers otherwise than was computed:";
        for (const module::RuleIndex rule : decided.denials) {
          why.append(" ").append(space_.policy(0).rule(rule).id);
        }
        return unknown(std::move(why));
      }
      // Where one denial after another stands against it, more are brought in at once.
      if (round > 2) AddDenials(way, wanted, batch *= 2);
      continue;
    }
    if (wanted.judge) {
      if (auto further = wanted.judge(RequestOf(space_, last_side(), witness, way.arena))) {
        if (further->empty()) return unknown("what the other set says was not computed");
        for (Claim& claim : *further) way.learnt.push_back(std::move(claim));
        continue;
      }
    }
    return Confirm(way, wanted, witness, request);
  }
  return unknown("its budget of steps is spent");
}

// ---- A class ------------------------------------------------------------------------------------

std::vector<Claim> Search::OtherGroups(const Box& box, View view,
                                       std::uint32_t chosen_group) const {
  const module::Tables& t = space_.tables(0);
  const Range groups = t.blocks[view.block].groups;
  std::vector<Claim> claims;
  for (std::uint32_t g = groups.first; g < groups.first + groups.count; ++g) {
    if (g == chosen_group) continue;
    std::vector<Claim> some;
    const Range range = t.groups[g].entries;
    for (const EntryRecord& entry : t.entries.subspan(range.first, range.count)) {
      if (!box.MayBeTrue(0, entry.condition) || !box.MayBeTrue(0, entry.within)) continue;
      some.push_back(Claim::All({Claim::Of(Claim::Kind::IsTrue, view, entry.condition),
                                 Claim::Of(Claim::Kind::IsTrue, view, entry.within)}));
    }
    claims.push_back(Claim::Some(std::move(some)));
  }
  return claims;
}

Finding Search::Find(ClassIndex of_class, const Wanted& wanted, std::uint64_t& steps) {
  const module::Tables& t = space_.tables(0);
  const View view = ViewOf(0, of_class);
  if (usual_of_ != of_class) usual_.clear();
  usual_of_ = of_class;
  const Range groups = t.blocks[view.block].groups;
  Box of_claims(space_);
  for (const Claim& claim : wanted.claims) {
    if (claim.kind == Claim::Kind::IsTrue) of_claims.Narrow(claim.view.side, claim.node);
    if (claim.kind == Claim::Kind::NotFalse)
      of_claims.NarrowUnlessFalse(claim.view.side, claim.node);
  }
  // The group with the most allows is taken allow by allow.
  std::uint32_t chosen = groups.first;
  for (std::uint32_t g = groups.first; g < groups.first + groups.count; ++g) {
    if (t.groups[g].entries.count > t.groups[chosen].entries.count) chosen = g;
  }
  if (wanted.entries) {
    for (std::uint32_t g = groups.first; g < groups.first + groups.count; ++g) {
      const Range range = t.groups[g].entries;
      const auto first = wanted.entries->lower_bound(range.first);
      if (first != wanted.entries->end() && *first < range.first + range.count) chosen = g;
    }
  }
  Finding worst;
  if (groups.count == 0) return worst;
  const Range range = t.groups[chosen].entries;
  for (std::uint32_t e = range.first; e < range.first + range.count; ++e) {
    if (wanted.entries && !wanted.entries->contains(e)) continue;
    const EntryRecord& entry = t.entries[e];
    if (!of_claims.MayBeTrue(0, entry.condition) || !of_claims.MayBeTrue(0, entry.within)) continue;
    Way way{of_class, view, of_claims, {}, {}, {}, {}};
    way.box.Narrow(0, entry.condition);
    way.box.Narrow(0, entry.within);
    if (way.box.is_empty()) continue;
    const bool may_be = std::ranges::all_of(wanted.claims, [&](const Claim& claim) {
      const bool is_plain =
          claim.kind == Claim::Kind::IsTrue || claim.kind == Claim::Kind::NotFalse;
      return !is_plain || way.box.MayBeTrue(claim.view.side, claim.node);
    });
    if (!may_be) continue;
    way.question.class_name = wanted.gone_name.empty() ? NameOf(of_class) : wanted.gone_name;
    way.question.is_gone = of_class == module::NoClass && wanted.gone_name.empty();
    if (way.question.is_gone) way.question.known_classes = ClassNames();
    way.question.names_class = space_.action() == Action::Create && of_class != module::NoClass &&
                               t.classes[of_class].by_name != 0;
    way.question.claims = wanted.claims;
    if (space_.action() == Action::Create) {
      const ClassChoice choice(space_, 0, way.question.class_name);
      for (Claim& claim : choice.Remains(of_class)) way.question.claims.push_back(std::move(claim));
    }
    way.question.claims.push_back(Claim::Of(Claim::Kind::IsTrue, view, entry.condition));
    way.question.claims.push_back(Claim::Of(Claim::Kind::IsTrue, view, entry.within));
    for (Claim& claim : OtherGroups(way.box, view, chosen)) {
      way.question.claims.push_back(std::move(claim));
    }
    for (const std::uint32_t usual : usual_) {
      // What stood against an earlier question may be put aside in this one.
      if (IsPutAside(wanted, usual)) continue;
      if (way.box.MayBeTrue(0, t.entries[usual].condition)) way.denials.insert(usual);
    }
    AddDenialsOfItsHosts(way, wanted, e);
    Finding finding = Try(way, wanted, steps);
    if (finding.kind == Finding::Kind::Found) return finding;
    if (finding.kind == Finding::Kind::Unknown && worst.kind == Finding::Kind::None) {
      worst = std::move(finding);
    }
    if (steps == 0) break;
  }
  return worst;
}

}  // namespace curfew::prove
