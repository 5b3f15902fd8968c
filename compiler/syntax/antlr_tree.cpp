#include "compiler/syntax/antlr_tree.h"

#include "compiler/base/check.h"
#include "compiler/syntax/string_literal.h"

#include <grammar/CurfewLexer.h>
#include <grammar/CurfewParser.h>

#include <antlr4-runtime.h>

namespace curfew::syntax {

using P = grammar::CurfewParser;
using antlr4::tree::TerminalNode;

// The reading itself, one function for each rule of the grammar.
class TreeReading {
 public:
  explicit TreeReading(const TreeReader& reader) : tokens_(*reader.tokens_), sink_(*reader.sink_) {}

  // ---- Spans and leaves

  [[nodiscard]] Span SpanOf(TerminalNode* node) const {
    return tokens_.span(node->getSymbol()->getTokenIndex());
  }
  [[nodiscard]] Span SpanOf(antlr4::ParserRuleContext* tree) const {
    return Join(tokens_.span(tree->start->getTokenIndex()),
                tokens_.span(tree->stop->getTokenIndex()));
  }
  [[nodiscard]] std::string TextOf(TerminalNode* node) const {
    return std::string(tokens_.text(node->getSymbol()->getTokenIndex()));
  }
  [[nodiscard]] std::string TextOf(antlr4::ParserRuleContext* one_token) const {
    return std::string(tokens_.text(one_token->start->getTokenIndex()));
  }
  template <typename Node>
  [[nodiscard]] std::optional<Span> OptionalSpan(Node* node) const {
    if (node == nullptr) return std::nullopt;
    return SpanOf(node);
  }
  // A rule of one token: a name, a path, a quantity.
  template <typename Leaf, typename Node>
  [[nodiscard]] Leaf Read(Node* node) const {
    return {TextOf(node), SpanOf(node)};
  }
  template <typename Leaf, typename Node>
  [[nodiscard]] std::optional<Leaf> ReadOptional(Node* node) const {
    if (node == nullptr) return std::nullopt;
    return Read<Leaf>(node);
  }
  template <typename Leaf, typename Node>
  [[nodiscard]] std::vector<Leaf> ReadAll(const std::vector<Node*>& nodes) const {
    std::vector<Leaf> leaves;
    leaves.reserve(nodes.size());
    for (Node* node : nodes) leaves.push_back(Read<Leaf>(node));
    return leaves;
  }
  template <typename Node>
  [[nodiscard]] String Text(Node* node) const {
    return {StringValue(TextOf(node)), SpanOf(node)};
  }
  [[nodiscard]] std::vector<String> Texts(const std::vector<P::TextContext*>& nodes) const {
    std::vector<String> texts;
    for (P::TextContext* node : nodes) texts.push_back(Text(node));
    return texts;
  }
  [[nodiscard]] std::vector<Name> Names(P::NewNamesContext* tree) const {
    return tree == nullptr ? std::vector<Name>() : ReadAll<Name>(tree->newName());
  }

  // At most one diagnostic a piece: what follows from a mistake is not reported.
  template <typename... Args>
  void Refuse(Span span, const diagnostics::Kind<Args...>& kind,
              const std::type_identity_t<Args>&... args) {
    if (!refused_) sink_.Report(span, kind, args...);
    refused_ = true;
  }

  // `{name}` in a pattern will capture one day.
  void RefuseCaptures(const std::vector<String>& patterns) {
    for (const String& pattern : patterns) RefuseCaptures(pattern.text, pattern.span);
  }
  void RefuseCaptures(std::string_view pattern, Span span) {
    const std::size_t open = pattern.find('{');
    if (open == std::string_view::npos) return;
    if (pattern.find('}', open) == std::string_view::npos) return;
    Refuse(span, diag::ReservedForm, "a capture `{…}` in a pattern");
  }

  // ---- Bounds

  template <typename Tree, typename Amount>
  Bound ReadBound(Tree* tree, const std::vector<Amount*>& amounts) const {
    Bound bound;
    bound.span = SpanOf(tree);
    std::vector<Quantity> quantities = ReadAll<Quantity>(amounts);
    if (tree->AT() != nullptr) {
      bound.at_most = quantities.back();
      if (quantities.size() == 1) return bound;
    }
    bound.value = quantities.front();
    return bound;
  }
  Bound Read(P::DurationBoundContext* tree) const { return ReadBound(tree, tree->duration()); }
  Bound Read(P::SizeBoundContext* tree) const { return ReadBound(tree, tree->byteSize()); }
  Bound Read(P::AmountBoundContext* tree) const { return ReadBound(tree, tree->amount()); }

  // ---- Conditions

  static Expr Leaf(ExprKind kind, Span span, std::string text) {
    Expr expr;
    expr.kind = kind;
    expr.span = span;
    expr.text = std::move(text);
    return expr;
  }
  static Expr Node(ExprKind kind, Span span, Span operator_span, std::vector<Expr> operands) {
    Expr expr;
    expr.kind = kind;
    expr.span = span;
    expr.operator_span = operator_span;
    expr.operands = std::move(operands);
    return expr;
  }

  Expr Read(P::ConditionContext* tree) {
    std::vector<Expr> operands;
    for (P::OperandContext* operand : tree->operand()) operands.push_back(Read(operand));
    if (operands.size() == 1) return std::move(operands.front());
    if (!tree->AND().empty() && !tree->OR().empty()) {
      Refuse(SpanOf(tree), diag::MixedAndOr);
    }
    const bool is_and = !tree->AND().empty();
    return Node(is_and ? ExprKind::And : ExprKind::Or, SpanOf(tree),
                SpanOf(is_and ? tree->AND(0) : tree->OR(0)), std::move(operands));
  }

  Expr Read(P::OperandContext* tree) {
    Expr expr;
    if (tree->quantified() != nullptr) {
      expr = Read(tree->quantified());
    } else if (tree->path() != nullptr) {
      const Span path = SpanOf(tree->path());
      expr = Leaf(ExprKind::Has, Join(SpanOf(tree->HAS()), path), TextOf(tree->path()));
      expr.operator_span = path;
    } else {
      expr = Read(tree->comparison());
    }
    const std::vector<TerminalNode*> nots = tree->NOT();
    if (nots.size() > limits::NestingMax) {
      Refuse(SpanOf(nots.front()), diag::TooDeep, static_cast<std::int64_t>(limits::NestingMax));
      return expr;
    }
    for (auto it = nots.rbegin(); it != nots.rend(); ++it) {
      std::vector<Expr> operands;
      const Span span = Join(SpanOf(*it), expr.span);
      operands.push_back(std::move(expr));
      expr = Node(ExprKind::Not, span, SpanOf(*it), std::move(operands));
    }
    return expr;
  }

  Expr Read(P::QuantifiedContext* tree) {
    std::vector<Expr> operands;
    operands.push_back(Read(tree->sum()));
    operands.push_back(Read(tree->condition()));
    const ExprKind kind = tree->ANY() != nullptr   ? ExprKind::Any
                          : tree->ALL() != nullptr ? ExprKind::All
                                                   : ExprKind::None;
    Expr expr = Node(kind, SpanOf(tree), SpanOf(tree->name()), std::move(operands));
    expr.text = TextOf(tree->name());
    return expr;
  }

  Expr Read(P::ComparisonContext* tree) {
    Expr left = Read(tree->sum(0));
    if (tree->comparator().empty()) return left;
    if (tree->comparator().size() > 1) {
      Refuse(SpanOf(tree->comparator(1)), diag::ChainedComparison);
    }
    std::vector<Expr> operands;
    operands.push_back(std::move(left));
    operands.push_back(Read(tree->sum(1)));
    P::ComparatorContext* comparator = tree->comparator(0);
    return Node(KindOf(comparator), SpanOf(tree), SpanOf(comparator), std::move(operands));
  }

  static ExprKind KindOf(P::ComparatorContext* tree) {
    switch (tree->start->getType()) {
      case P::EQ:
        return ExprKind::Equal;
      case P::NE:
        return ExprKind::NotEqual;
      case P::LT:
        return ExprKind::Less;
      case P::LE:
        return ExprKind::LessEqual;
      case P::GT:
        return ExprKind::Greater;
      case P::GE:
        return ExprKind::GreaterEqual;
      case P::IN:
        return ExprKind::In;
      case P::NOT:
        return ExprKind::NotIn;
      case P::MATCHES:
        return ExprKind::Matches;
      case P::STARTS:
        return ExprKind::Starts;
      case P::SUBSET:
        return ExprKind::SubsetOf;
      case P::INTERSECTS:
        return ExprKind::Intersects;
      default:
        CURFEW_UNREACHABLE("the grammar's comparators are these");
    }
  }

  Expr Read(P::SumContext* tree) {
    const std::vector<P::ValueContext*> values = tree->value();
    Expr sum = Read(values.front());
    if (values.size() > limits::NestingMax) {
      Refuse(SpanOf(tree), diag::TooDeep, static_cast<std::int64_t>(limits::NestingMax));
      return sum;
    }
    for (std::size_t i = 1; i < values.size(); ++i) {
      // Children alternate between values and signs.
      auto* sign = static_cast<TerminalNode*>(tree->children[2 * i - 1]);
      const bool is_plus = sign->getSymbol()->getType() == P::PLUS;
      std::vector<Expr> operands;
      const Span span = Join(sum.span, SpanOf(values[i]));
      operands.push_back(std::move(sum));
      operands.push_back(Read(values[i]));
      sum =
          Node(is_plus ? ExprKind::Plus : ExprKind::Minus, span, SpanOf(sign), std::move(operands));
    }
    return sum;
  }

  Expr Read(P::ValueContext* tree) {
    if (tree->scalar() != nullptr) return Read(tree->scalar());
    if (tree->list() != nullptr) return Read(tree->list());
    if (tree->DOTTED() != nullptr) return Leaf(ExprKind::Path, SpanOf(tree), TextOf(tree));
    Expr inner = Read(tree->condition());
    if (tree->COUNT() != nullptr) {
      std::vector<Expr> operands;
      operands.push_back(std::move(inner));
      return Node(ExprKind::Count, SpanOf(tree), SpanOf(tree->COUNT()), std::move(operands));
    }
    inner.parenthesised = true;
    inner.span = SpanOf(tree);
    return inner;
  }

  Expr Read(P::ScalarContext* tree) {
    const Span span = SpanOf(tree);
    std::string text = TextOf(tree);
    if (tree->STRING() != nullptr) return Leaf(ExprKind::String, span, StringValue(text));
    if (tree->QUANTITY() != nullptr) return Leaf(ExprKind::Quantity, span, std::move(text));
    if (tree->TIME() != nullptr) return Leaf(ExprKind::Time, span, std::move(text));
    if (tree->DIGEST_LITERAL() != nullptr) return Leaf(ExprKind::Digest, span, std::move(text));
    if (tree->YES() != nullptr) return Leaf(ExprKind::True, span, {});
    if (tree->NO() != nullptr) return Leaf(ExprKind::False, span, {});
    return Leaf(ExprKind::Name, span, std::move(text));
  }

  Expr Read(P::ListContext* tree) {
    std::vector<Expr> elements;
    for (P::ValueContext* value : tree->value()) elements.push_back(Read(value));
    return Node(ExprKind::List, SpanOf(tree), {}, std::move(elements));
  }

  Expr Read(P::WishedContext* tree) {
    if (tree->scalar() != nullptr) return Read(tree->scalar());
    if (tree->list() != nullptr) return Read(tree->list());
    return Leaf(ExprKind::Path, SpanOf(tree), TextOf(tree));
  }

  // ---- Parts of rules

  ActionName Read(P::ActionContext* tree) const { return {ActionOf(tree->start), SpanOf(tree)}; }

  static Action ActionOf(const antlr4::Token* token) {
    switch (token->getType()) {
      case P::CREATE:
        return Action::Create;
      case P::RESUME:
        return Action::Resume;
      case P::EXEC:
        return Action::Exec;
      case P::EGRESS:
        return Action::Egress;
      case P::EXPOSE:
        return Action::Expose;
      case P::SNAPSHOT:
        return Action::Snapshot;
      case P::IMPORT:
        return Action::Import;
      case P::EXPORT:
        return Action::Export;
      case P::EXTEND:
        return Action::Extend;
      case P::OBSERVE:
        return Action::Observe;
      default:
        CURFEW_UNREACHABLE("the grammar's actions are these");
    }
  }

  std::vector<ActionName> Read(const std::vector<P::ActionContext*>& trees) const {
    std::vector<ActionName> actions;
    for (P::ActionContext* tree : trees) actions.push_back(Read(tree));
    return actions;
  }

  std::optional<Name> Label(P::LabelContext* tree) const {
    if (tree == nullptr) return std::nullopt;
    return Read<Name>(tree->newName());
  }

  std::optional<Trial> Read(P::TrialContext* tree) const {
    if (tree == nullptr) return std::nullopt;
    return Trial{ReadOptional<Time>(tree->time()), SpanOf(tree)};
  }

  std::optional<String> Read(P::BecauseContext* tree) const {
    if (tree == nullptr) return std::nullopt;
    return Text(tree->text());
  }

  Tail Read(P::TailContext* tree) {
    Tail tail;
    if (tree == nullptr) return tail;
    if (tree->condition() != nullptr) tail.when = Read(tree->condition());
    tail.because = Read(tree->because());
    return tail;
  }

  Audience Read(P::AudienceContext* tree) const {
    const Span span = SpanOf(tree);
    if (tree->ANY() != nullptr) return {Audience::Kind::Any, {}, span};
    if (tree->DOTTED() != nullptr) return {Audience::Kind::Attribute, TextOf(tree), span};
    return {Audience::Kind::Principal, StringValue(TextOf(tree)), span};
  }

  // ---- Planes

  Statement Read(P::ImageStatementContext* tree) {
    const Span span = SpanOf(tree);
    switch (tree->start->getType()) {
      case P::ALLOW:
        return AllowImages{Names(tree->newNames()), OptionalSpan(tree->NONE()), span};
      case P::EXEC: {
        ExecStatement exec;
        exec.span = span;
        exec.kind = tree->ANY() != nullptr    ? ExecStatement::Kind::Any
                    : tree->NONE() != nullptr ? ExecStatement::Kind::None
                                              : ExecStatement::Kind::Patterns;
        if (tree->texts() != nullptr) exec.patterns = Texts(tree->texts()->text());
        RefuseCaptures(exec.patterns);
        return exec;
      }
      case P::SIZE: {
        SizeStatement size;
        size.span = span;
        for (P::SizeItemContext* item : tree->sizeItem()) {
          size.items.push_back({Read<Name>(item->name()), Read(item->amountBound()), SpanOf(item)});
        }
        return size;
      }
      default:
        return IsolationStatement{Read<Name>(tree->name()), span};
    }
  }

  Statement Read(P::IdentityStatementContext* tree) {
    const Span span = SpanOf(tree);
    switch (tree->start->getType()) {
      case P::TOKEN:
        return TokenStatement{Text(tree->text()), Read<Quantity>(tree->duration()), span};
      case P::SECRETS:
        return SecretsStatement{Names(tree->newNames()), OptionalSpan(tree->NONE()), span};
      case P::ENV: {
        EnvStatement env{{}, OptionalSpan(tree->NONE()), span};
        if (tree->texts() != nullptr) env.names = Texts(tree->texts()->text());
        return env;
      }
      default: {
        AccessStatement access{{}, OptionalSpan(tree->NONE()), span};
        for (P::AudienceContext* audience : tree->audience()) {
          access.audiences.push_back(Read(audience));
        }
        return access;
      }
    }
  }

  Statement Read(P::FilesystemStatementContext* tree) {
    const Span span = SpanOf(tree);
    if (tree->SCRATCH() != nullptr) {
      return ScratchStatement{Text(tree->text()), Read<Quantity>(tree->byteSize()), span};
    }
    if (tree->PERSIST() != nullptr) {
      PersistStatement persist;
      persist.none = SpanOf(tree->NONE());
      persist.span = span;
      return persist;
    }
    if (tree->SNAPSHOT() != nullptr) {
      SnapshotStatement snapshot;
      snapshot.none = SpanOf(tree->NONE());
      snapshot.span = span;
      return snapshot;
    }
    TransferStatement transfer;
    transfer.direction = tree->IMPORT() != nullptr ? TransferStatement::Direction::Import
                                                   : TransferStatement::Direction::Export;
    transfer.label = Label(tree->label());
    transfer.none = OptionalSpan(tree->NONE());
    if (tree->texts() != nullptr) transfer.patterns = Texts(tree->texts()->text());
    RefuseCaptures(transfer.patterns);
    transfer.each = tree->EACH() != nullptr;
    transfer.at_most = ReadOptional<Quantity>(tree->byteSize());
    transfer.tail = Read(tree->tail());
    transfer.span = span;
    return transfer;
  }

  Statement Read(P::KeepHeadContext* tree) const {
    const Span span = SpanOf(tree);
    if (tree->PERSIST() != nullptr) {
      PersistStatement persist;
      persist.name = Read<Name>(tree->newName());
      persist.path = Text(tree->text());
      persist.size = Read<Quantity>(tree->byteSize());
      persist.span = span;
      return persist;
    }
    SnapshotStatement snapshot;
    snapshot.kind = Read<Name>(tree->name());
    snapshot.span = span;
    return snapshot;
  }

  KeepItem Read(P::KeepItemContext* tree) const {
    KeepItem item;
    item.span = SpanOf(tree);
    if (tree->text() != nullptr) item.text = Text(tree->text());
    item.classes = Names(tree->newNames());
    if (tree->durationBound() != nullptr) item.bound = Read(tree->durationBound());
    if (tree->sizeBound() != nullptr) item.bound = Read(tree->sizeBound());
    if (tree->number() != nullptr) {
      const auto number = Read<Quantity>(tree->number());
      const bool is_maximum = tree->MOST() != nullptr;
      item.bound = Bound{is_maximum ? std::nullopt : std::optional(number),
                         is_maximum ? std::optional(number) : std::nullopt, number.span};
    }
    item.kind = KeepKindOf(tree->start);
    return item;
  }

  static KeepItem::Kind KeepKindOf(const antlr4::Token* token) {
    switch (token->getType()) {
      case P::REASON:
        return KeepItem::Kind::Reason;
      case P::OWNER:
        return KeepItem::Kind::Owner;
      case P::EXPIRES:
        return KeepItem::Kind::Expires;
      case P::SIZE:
        return KeepItem::Kind::Size;
      case P::KEEP:
        return KeepItem::Kind::Keep;
      case P::BRANCHES:
        return KeepItem::Kind::Branches;
      case P::FROM:
        return KeepItem::Kind::From;
      case P::RENEWS:
        return KeepItem::Kind::Renews;
      case P::SHARED:
        return KeepItem::Kind::SharedByClass;
      default:
        CURFEW_UNREACHABLE("the grammar's items are these");
    }
  }

  Statement Read(P::NetworkStatementContext* tree) {
    const Span span = SpanOf(tree);
    if (tree->TLS() != nullptr) return TlsStatement{Read<Name>(tree->name()), span};
    if (tree->LIMIT() != nullptr) {
      LimitStatement limit;
      limit.span = span;
      for (P::LimitItemContext* item : tree->limitItem()) limit.items.push_back(Read(item));
      return limit;
    }
    if (tree->ALLOW() != nullptr) {
      AllowTraffic allow;
      allow.label = Label(tree->label());
      allow.none = OptionalSpan(tree->NONE());
      if (tree->allowed() != nullptr) allow.traffic = ReadTraffic(tree->allowed());
      if (tree->ENCODED() != nullptr) {
        allow.encoded_slash = Join(SpanOf(tree->WITH()), SpanOf(tree->SLASH()));
      }
      allow.secret = ReadOptional<Name>(tree->newName());
      allow.tail = Read(tree->tail());
      allow.span = span;
      return allow;
    }
    if (tree->DENY() != nullptr) {
      DenyTraffic deny;
      deny.label = Label(tree->label());
      deny.trial = Read(tree->trial());
      deny.traffic = ReadTraffic(tree->denied());
      deny.traffic.any_target = OptionalSpan(tree->denied()->ANY());
      deny.tail = Read(tree->tail());
      deny.span = span;
      return deny;
    }
    ExposeStatement expose;
    expose.label = Label(tree->label());
    expose.none = OptionalSpan(tree->NONE());
    if (tree->portRange() != nullptr) expose.ports = Read(tree->portRange());
    if (tree->audience() != nullptr) expose.to = Read(tree->audience());
    if (tree->durationBound() != nullptr) expose.lasts = Read(tree->durationBound());
    expose.tail = Read(tree->tail());
    expose.span = span;
    return expose;
  }

  // `allowed` and `denied` have the same parts.
  template <typename Tree>
  Traffic ReadTraffic(Tree* tree) {
    Traffic traffic;
    if (tree->CONNECT() != nullptr) traffic.stream = Traffic::Stream::Connect;
    if (tree->WEBSOCKET() != nullptr) traffic.stream = Traffic::Stream::Websocket;
    if (P::MethodsContext* methods = tree->methods()) {
      traffic.methods = ReadAll<Name>(methods->METHOD());
      traffic.any_method = OptionalSpan(methods->ANY());
    }
    if (P::TargetsContext* targets = tree->targets()) {
      for (P::TargetContext* target : targets->target()) {
        traffic.targets.push_back(Read(target));
      }
      for (P::PlaceContext* place : targets->place()) traffic.at.push_back(Read(place));
      for (P::PortRangeContext* range : targets->portRange()) traffic.ports.push_back(Read(range));
    }
    if (P::QueryContext* query = tree->query()) {
      for (P::QueryTermContext* term : query->queryTerm()) {
        traffic.query.push_back({Read<Name>(term->name()), Text(term->text()), SpanOf(term)});
      }
    }
    return traffic;
  }

  Target Read(P::TargetContext* tree) {
    const Span span = SpanOf(tree);
    if (tree->INTERNET() != nullptr) return {Target::Kind::Internet, {}, span};
    if (tree->STRING() == nullptr) return {Target::Kind::List, TextOf(tree), span};
    Target target{Target::Kind::Pattern, StringValue(TextOf(tree)), span};
    RefuseCaptures(target.text, span);
    return target;
  }

  Place Read(P::PlaceContext* tree) const {
    if (tree->STRING() == nullptr) return {Place::Kind::List, TextOf(tree), SpanOf(tree)};
    return {Place::Kind::Block, StringValue(TextOf(tree)), SpanOf(tree)};
  }

  PortRange Read(P::PortRangeContext* tree) const {
    PortRange range;
    range.first = Read<Quantity>(tree->number(0));
    range.last = ReadOptional<Quantity>(tree->number(1));
    range.span = SpanOf(tree);
    return range;
  }

  LimitItem Read(P::LimitItemContext* tree) const {
    LimitItem item;
    item.amount = Read<Quantity>(tree->amount());
    item.span = SpanOf(tree);
    if (tree->REQUESTS() != nullptr) {
      item.per = Read<Quantity>(tree->duration());
    } else {
      item.kind = tree->REQUEST() != nullptr ? LimitItem::Kind::PerRequest : LimitItem::Kind::InAll;
    }
    return item;
  }

  Statement Read(P::LifetimeStatementContext* tree) const {
    const Span span = SpanOf(tree);
    switch (tree->start->getType()) {
      case P::TTL:
        return TtlStatement{Read(tree->durationBound()), span};
      case P::IDLE:
        return IdleStatement{Read<Quantity>(tree->duration()), Read<Name>(tree->name()), span};
      case P::FROZEN:
        return FrozenStatement{Read<Quantity>(tree->duration()), span};
      case P::RENEW:
        if (tree->NONE() != nullptr) return RenewStatement{true, {}, {}, span};
        return RenewStatement{false, Read<Quantity>(tree->number()),
                              Read<Quantity>(tree->duration()), span};
      default:
        return GraceStatement{Read<Quantity>(tree->duration()), span};
    }
  }

  Statement Read(P::EvidenceStatementContext* tree) const {
    const Span span = SpanOf(tree);
    switch (tree->start->getType()) {
      case P::RECORD:
        return RecordStatement{Read(tree->action()), span};
      case P::REDACT:
        return RedactStatement{Read<Name>(tree->name()), Texts(tree->texts()->text()), span};
      default:
        return RetainStatement{Read<Quantity>(tree->duration()), span};
    }
  }

  Rule Read(P::SetRuleContext* tree) {
    Rule rule;
    rule.label = Label(tree->label());
    rule.trial = Read(tree->trial());
    rule.actions = Read(tree->actions()->action());
    rule.span = SpanOf(tree);
    if (tree->REQUIRE() != nullptr) {
      rule.effect = Rule::Effect::Require;
      const auto conditions = tree->condition();
      if (conditions.size() == 2) rule.tail.when = Read(conditions.front());
      rule.condition = Read(conditions.back());
      rule.tail.because = Read(tree->because());
      return rule;
    }
    rule.effect = tree->DENY() != nullptr ? Rule::Effect::Deny : Rule::Effect::Never;
    if (rule.trial && rule.effect == Rule::Effect::Never) {
      Refuse(SpanOf(tree->NEVER()), diag::TrialOfWrongEffect, "never");
    }
    rule.tail = Read(tree->tail());
    return rule;
  }

  // ---- Tests

  TestItem Read(P::TestItemContext* tree) {
    const Span span = SpanOf(tree);
    if (tree->ask() != nullptr) return ReadAsk(tree);
    switch (tree->start->getType()) {
      case P::GIVEN: {
        Given given;
        given.span = span;
        for (P::FixtureContext* fixture : tree->fixture()) {
          given.fixtures.push_back(
              {Read<Name>(fixture->name()), Read(fixture->object()), SpanOf(fixture)});
        }
        return given;
      }
      case P::AFTER:
        return AfterStep{Read<Quantity>(tree->duration()), span};
      case P::AT:
        return AtStep{Read<Time>(tree->time()), span};
      case P::FREEZE:
        return EventStep{EventStep::Event::Freeze, std::nullopt, span};
      case P::CLOSE:
        return EventStep{EventStep::Event::Close, std::nullopt, span};
      default:
        return EventStep{EventStep::Event::Reload, Text(tree->text()), span};
    }
  }

  Ask ReadAsk(P::TestItemContext* item) {
    P::AskContext* tree = item->ask();
    Ask ask;
    ask.action = {ActionOf(tree->start), tokens_.span(tree->start->getTokenIndex())};
    for (P::WishContext* wish : tree->wish()) {
      ask.wishes.push_back({Read<Name>(wish->name()), Read(wish->wished()), SpanOf(wish)});
    }
    if (ask.action.action == Action::Resume) ask.snapshot = OptionalSpan(tree->SNAPSHOT());
    ask.kind = ReadOptional<Name>(tree->name());
    for (TerminalNode* method : {tree->METHOD(), tree->CONNECT(), tree->WEBSOCKET()}) {
      if (method != nullptr) ask.method = Read<Name>(method);
    }
    if (tree->texts() != nullptr) ask.subjects = Texts(tree->texts()->text());
    if (tree->text() != nullptr) {
      (ask.action.action == Action::Expose ? ask.to.emplace() : ask.subjects.emplace_back()) =
          Text(tree->text());
    }
    if (tree->list() != nullptr) ask.args = Read(tree->list());
    ask.port = ReadOptional<Quantity>(tree->number());
    ask.duration = ReadOptional<Quantity>(tree->duration());
    if (item->object() != nullptr) ask.facts = Read(item->object());
    ask.answer = Read(item->answer());
    ask.span = SpanOf(item);
    return ask;
  }

  Answer Read(P::AnswerContext* tree) {
    Answer answer;
    answer.allow = tree->ALLOW() != nullptr;
    answer.only = tree->ONLY() != nullptr;
    if (tree->answerIds() != nullptr) answer.ids = ReadAll<Name>(tree->answerIds()->answerId());
    if (tree->object() != nullptr) answer.plan = Read(tree->object());
    if (P::TrialAnswerContext* trial = tree->trialAnswer()) {
      answer.trial = Answer::TrialAnswer{
          trial->ALLOW() != nullptr, ReadAll<Name>(trial->answerIds()->answerId()), SpanOf(trial)};
    }
    answer.span = SpanOf(tree);
    return answer;
  }

  Object Read(P::ObjectContext* tree) {
    Object object;
    object.span = SpanOf(tree);
    for (P::FieldContext* field : tree->field()) object.fields.push_back(Read(field));
    return object;
  }

  Field Read(P::FieldContext* tree) {
    Field field;
    field.name = Read<Name>(tree->name());
    field.span = SpanOf(tree);
    if (tree->wished() != nullptr) {
      field.value = Read(tree->wished());
    } else {
      field.fields = Read(tree->object()).fields;
    }
    return field;
  }

  // ---- Declarations

  TypeExpr Read(P::TypeContext* tree) const {
    TypeExpr type;
    type.span = SpanOf(tree);
    if (tree->SET() != nullptr) type.collection = TypeExpr::Collection::Set;
    if (tree->LIST() != nullptr) type.collection = TypeExpr::Collection::List;
    type.names = ReadAll<Name>(tree->typeName()->name());
    if (!tree->typeName()->LT().empty()) type.shape = TypeExpr::Shape::OrderedEnum;
    if (!tree->typeName()->PIPE().empty()) type.shape = TypeExpr::Shape::UnorderedEnum;
    type.optional = tree->QUESTION() != nullptr;
    type.at_most = ReadOptional<Quantity>(tree->number());
    return type;
  }

  SandboxDecl Read(P::SandboxHeadContext* tree) {
    SandboxDecl sandbox;
    sandbox.every = tree->EVERY() != nullptr;
    sandbox.span = SpanOf(tree);
    sandbox.name = sandbox.every ? Name{{}, SpanOf(tree->SANDBOX())} : Read<Name>(tree->newName(0));
    sandbox.narrows = ReadOptional<Name>(sandbox.every ? nullptr : tree->newName(1));
    if (tree->BY() != nullptr) sandbox.by_name = Join(SpanOf(tree->BY()), SpanOf(tree->NAME()));
    if (tree->condition() != nullptr) sandbox.when = Read(tree->condition());
    if (sandbox.every && tree->WHEN() != nullptr) {
      Refuse(SpanOf(tree->WHEN()), diag::FloorWithCondition);
    }
    return sandbox;
  }

  template <typename T>
  void SetOnce(std::optional<T>& field, T value, Span span, std::string_view word) {
    if (field) {
      if (!refused_) sink_.Report(span, diag::StatedTwice, word).Note(field->span, diag::FirstHere);
      refused_ = true;
      return;
    }
    field = std::move(value);
  }

 private:
  const TokenSequence& tokens_;
  diagnostics::Sink& sink_;
  bool refused_ = false;
};

namespace {

// The tree of a piece is of that piece's rule.
template <typename Context>
Context* As(antlr4::ParserRuleContext& tree) {
  auto* context = dynamic_cast<Context*>(&tree);
  CURFEW_CHECK(context != nullptr, "a piece's tree is read as that piece");
  return context;
}

}  // namespace

Declaration TreeReader::ReadHeader(Tree& tree) {
  const TreeReading reading(*this);
  auto* header = As<P::HeaderContext>(tree);
  const Span span = reading.SpanOf(header);
  if (header->number() != nullptr) {
    return LanguageHeader{reading.Read<Quantity>(header->number()), span};
  }
  if (header->path() != nullptr) return PackageHeader{reading.Read<Name>(header->path()), span};
  return UseHeader{reading.Text(header->text()), span};
}

AttributesDecl TreeReader::ReadAttributesHead(Tree& tree) {
  const TreeReading reading(*this);
  auto* head = As<P::AttributesHeadContext>(tree);
  return {{}, reading.Read<Name>(head->name()), {}, reading.SpanOf(head)};
}

AttributeDecl TreeReader::ReadAttribute(Tree& tree) {
  const TreeReading reading(*this);
  auto* attribute = As<P::AttributeContext>(tree);
  return {{},
          reading.Read<Name>(attribute->name()),
          reading.Read(attribute->type()),
          reading.OptionalSpan(attribute->RESTATED()),
          reading.SpanOf(attribute)};
}

ImageDecl TreeReader::ReadImageHead(Tree& tree) {
  const TreeReading reading(*this);
  auto* head = As<P::ImageHeadContext>(tree);
  return {{}, reading.Read<Name>(head->newName()), {}, {}, reading.SpanOf(head)};
}

void TreeReader::ReadImageField(Tree& tree, ImageDecl& image) {
  TreeReading reading(*this);
  auto* field = As<P::ImageFieldContext>(tree);
  const Span span = reading.SpanOf(field);
  if (field->text() != nullptr) {
    reading.SetOnce(image.ref, reading.Text(field->text()), span, "ref");
  } else {
    reading.SetOnce(image.digest, reading.Read<DigestLiteral>(field->digest()), span, "digest");
  }
}

SecretDecl TreeReader::ReadSecretHead(Tree& tree) {
  const TreeReading reading(*this);
  auto* head = As<P::SecretHeadContext>(tree);
  return {{}, reading.Read<Name>(head->newName()), {}, {}, reading.SpanOf(head)};
}

void TreeReader::ReadSecretField(Tree& tree, SecretDecl& secret) {
  TreeReading reading(*this);
  auto* field = As<P::SecretFieldContext>(tree);
  const Span span = reading.SpanOf(field);
  std::vector<String> texts = reading.Texts(field->text());
  if (field->FROM() != nullptr) {
    reading.SetOnce(secret.from,
                    SecretSource{reading.Read<Name>(field->name()), texts.front(), span}, span,
                    "from");
    return;
  }
  SecretSend send;
  send.span = span;
  if (field->HEADER() != nullptr) {
    send.form = reading.Read<Name>(field->HEADER());
    send.header = texts.front();
    texts.erase(texts.begin());
  } else {
    send.form = reading.Read<Name>(field->name());
  }
  send.targets = std::move(texts);
  secret.sends.push_back(std::move(send));
}

ListDecl TreeReader::ReadList(Tree& tree) {
  TreeReading reading(*this);
  auto* declaration = As<P::ListDeclarationContext>(tree);
  ListDecl list;
  list.kind = declaration->HOSTS() != nullptr       ? ListDecl::Kind::Hosts
              : declaration->ADDRESSES() != nullptr ? ListDecl::Kind::Addresses
              : declaration->DIGESTS() != nullptr   ? ListDecl::Kind::Digests
                                                    : ListDecl::Kind::Strings;
  list.name = reading.Read<Name>(declaration->newName());
  if (declaration->text() != nullptr) list.from = reading.Text(declaration->text());
  if (declaration->list() != nullptr) {
    list.elements = reading.Read(declaration->list()).operands;
  }
  list.span = reading.SpanOf(declaration);
  return list;
}

SandboxDecl TreeReader::ReadSandboxHead(Tree& tree) {
  return TreeReading(*this).Read(As<P::SandboxHeadContext>(tree));
}

Plane TreeReader::ReadPlaneHead(Tree& tree) {
  const TreeReading reading(*this);
  auto* head = As<P::PlaneHeadContext>(tree);
  Plane plane;
  plane.kind = head->IMAGE() != nullptr        ? PlaneKind::Image
               : head->IDENTITY() != nullptr   ? PlaneKind::Identity
               : head->FILESYSTEM() != nullptr ? PlaneKind::Filesystem
               : head->NETWORK() != nullptr    ? PlaneKind::Network
               : head->LIFETIME() != nullptr   ? PlaneKind::Lifetime
                                               : PlaneKind::Evidence;
  plane.span = reading.SpanOf(head);
  plane.keyword = tokens_->span(head->start->getTokenIndex());
  return plane;
}

Statement TreeReader::ReadImageStatement(Tree& tree) {
  return TreeReading(*this).Read(As<P::ImageStatementContext>(tree));
}
Statement TreeReader::ReadIdentityStatement(Tree& tree) {
  return TreeReading(*this).Read(As<P::IdentityStatementContext>(tree));
}
Statement TreeReader::ReadFilesystemStatement(Tree& tree) {
  return TreeReading(*this).Read(As<P::FilesystemStatementContext>(tree));
}
Statement TreeReader::ReadKeepHead(Tree& tree) {
  return TreeReading(*this).Read(As<P::KeepHeadContext>(tree));
}
KeepItem TreeReader::ReadKeepItem(Tree& tree) {
  return TreeReading(*this).Read(As<P::KeepItemContext>(tree));
}
Statement TreeReader::ReadNetworkStatement(Tree& tree) {
  return TreeReading(*this).Read(As<P::NetworkStatementContext>(tree));
}
Statement TreeReader::ReadLifetimeStatement(Tree& tree) {
  return TreeReading(*this).Read(As<P::LifetimeStatementContext>(tree));
}
Statement TreeReader::ReadEvidenceStatement(Tree& tree) {
  return TreeReading(*this).Read(As<P::EvidenceStatementContext>(tree));
}
Rule TreeReader::ReadRule(Tree& tree) {
  return TreeReading(*this).Read(As<P::SetRuleContext>(tree));
}

TestDecl TreeReader::ReadTestHead(Tree& tree) {
  const TreeReading reading(*this);
  auto* head = As<P::TestHeadContext>(tree);
  return {{}, reading.Text(head->text()), {}, reading.SpanOf(head)};
}

TestItem TreeReader::ReadTestItem(Tree& tree) {
  return TreeReading(*this).Read(As<P::TestItemContext>(tree));
}

}  // namespace curfew::syntax
