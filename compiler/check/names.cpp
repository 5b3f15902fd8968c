#include "compiler/check/names.h"

#include "compiler/base/limits.h"
#include "compiler/base/text.h"
#include "compiler/check/attributes.h"
#include "compiler/check/secret.h"
#include "compiler/values/principal.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace curfew::check {
namespace {

constexpr std::string_view kNoClass[] = {"builtin", "class", "request", "sandbox", "set"};
constexpr std::string_view kNoImage[] = {"default",   "allow",  "exec",  "size",
                                         "isolation", "reason", "owner", "lineage"};
// Beside those: keywords whose own path is an id or the beginning of one.
constexpr std::string_view kNoLabel[] = {"import",   "export", "scratch", "persist",
                                         "snapshot", "expose", "limit",   "tls"};

bool IsOneOf(std::string_view name, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

class Collector {
 public:
  Collector(model::PolicyModel& model, diagnostics::Sink& sink)
      : model_(model), sink_(sink), partial_(sink.has_errors()) {}

  void operator()(const syntax::LanguageHeader&) {}
  void operator()(const syntax::PackageHeader& header) { packages_.insert(header.name.text); }
  void operator()(const syntax::UseHeader&) {}  // its file is of the set
  void operator()(const syntax::SecretDecl& secret) {
    if (Declare(secret.name, true, "a secret")) secrets_.push_back(&secret);
  }
  void operator()(const syntax::ListDecl& list) {
    if (Declare(list.name, true, "a list")) names_.lists.emplace(list.name.text, &list);
  }
  void operator()(const syntax::AttributesDecl& attributes) { attributes_.push_back(&attributes); }
  void operator()(const syntax::Rule& rule) { names_.rules.push_back(&rule); }
  void operator()(const syntax::TestDecl& test) { names_.tests.push_back(&test); }

  void operator()(const syntax::ImageDecl& declaration) {
    const bool free = Declare(declaration.name, IsFreeImageName(declaration.name.text), "an image");
    model::Image image{declaration.name.text, {}, {}, declaration.name.span};
    if (declaration.ref) {
      auto ref = values::ParseImageRef(declaration.ref->text);
      if (ref) {
        image.ref = *std::move(ref);
      } else {
        sink_.Report(declaration.ref->span, diag::WrongLiteral, "an image reference",
                     ref.error().message);
      }
    }
    if (declaration.digest) {
      if (const auto digest = ParseDigest(declaration.digest->text)) {
        image.digest = *digest;
      } else {
        sink_.Report(declaration.digest->span, diag::WrongLiteral, "a digest",
                     "it is `sha256:` and 64 hexadecimal digits");
      }
    } else if (!partial_) {
      sink_.Report(declaration.name.span, diag::MissingDigest, declaration.name.text);
    }
    if (free) model_.images.push_back(std::move(image));
  }

  void operator()(const syntax::SandboxDecl& declaration) {
    if (declaration.every) {
      names_.floors.push_back(&declaration);
    } else if (classes_.size() >= ClassesMax) {
      if (!names_.has_too_many_classes) {
        sink_.Report(declaration.name.span, diag::TooManyClasses,
                     static_cast<std::int64_t>(ClassesMax));
      }
      names_.has_too_many_classes = true;
    } else if (Declare(declaration.name, IsFreeClassName(declaration.name.text), "a class")) {
      classes_.push_back(&declaration);
    }
  }

  Names Finish() {
    model_.packages.assign(packages_.begin(), packages_.end());
    names_.unread_attributes = DeclareAttributes(attributes_, model_, sink_);
    const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
    std::sort(model_.images.begin(), model_.images.end(), by_name);
    for (std::size_t i = 0; i < model_.images.size(); ++i) {
      names_.images.emplace(model_.images[i].name, model::ImageId{static_cast<std::uint32_t>(i)});
    }
    std::sort(secrets_.begin(), secrets_.end(),
              [](const auto* a, const auto* b) { return a->name.text < b->name.text; });
    names_.unread_secrets = DeclareSecrets(secrets_, model_, sink_, partial_);
    for (std::size_t i = 0; i < model_.secrets.size(); ++i) {
      names_.secrets.emplace(model_.secrets[i].name,
                             model::SecretId{static_cast<std::uint32_t>(i)});
    }
    std::sort(classes_.begin(), classes_.end(),
              [](const auto* a, const auto* b) { return a->name.text < b->name.text; });
    for (const syntax::SandboxDecl* declaration : classes_) {
      const model::ClassId id{static_cast<std::uint32_t>(model_.classes.size())};
      model::Class of;
      of.name = declaration->name.text;
      of.doc = fmt::format("{}", fmt::join(declaration->doc.lines, "\n"));
      of.chain = {id};
      of.by_name = declaration->by_name.has_value();
      of.span = declaration->name.span;
      model_.classes.push_back(std::move(of));
      names_.classes.emplace(declaration->name.text, id);
    }
    names_.class_declarations = std::move(classes_);
    return std::move(names_);
  }

 private:
  // Whether the name may be used: free, and not taken by another declaration of the set.
  bool Declare(const syntax::Name& name, bool free, std::string_view what) {
    if (name.text.empty()) return false;  // said when it was read
    if (!free) {
      sink_.Report(name.span, diag::NameNotFree, name.text, what);
      return false;
    }
    if (name.text.size() > NameBytesMax) {
      sink_.Report(name.span, diag::NameTooLong, static_cast<std::int64_t>(NameBytesMax));
      return false;
    }
    const auto [place, fresh] = names_.declared.emplace(name.text, name.span);
    if (!fresh) {
      sink_.Report(name.span, diag::NameTaken, name.text)
          .Note(place->second, diag::DeclaredHere, name.text);
    }
    return fresh;
  }

  model::PolicyModel& model_;
  diagnostics::Sink& sink_;
  bool partial_;
  Names names_;
  std::set<std::string> packages_;
  std::vector<const syntax::AttributesDecl*> attributes_;
  std::vector<const syntax::SecretDecl*> secrets_;
  std::vector<const syntax::SandboxDecl*> classes_;
};

// The candidates met so far that are nearest to one name.
class Search {
 public:
  explicit Search(std::string_view name)
      : name_(name),
        limit_(std::clamp<std::size_t>(name.size() / 3, 1, 3)),
        distance_(limit_ + 1) {}

  // `part` of a candidate is what is compared.
  void Look(std::string_view candidate, std::string_view part) {
    const std::size_t distance = EditDistance(name_, part, limit_);
    if (distance > distance_ || distance > limit_ || candidate == nearest_) return;
    is_alone_ = distance < distance_;
    if (is_alone_) nearest_ = candidate;
    distance_ = distance;
  }

  // What is as near elsewhere makes both unsure.
  void Join(const Search& other) {
    if (other.nearest_.empty()) return;
    if (other.distance_ < distance_) {
      *this = other;
    } else if (other.distance_ == distance_) {
      is_alone_ = false;
    }
  }

  [[nodiscard]] Guess found() const {
    return {nearest_, is_alone_ && distance_ * 2 < name_.size()};
  }

 private:
  std::string_view name_;
  std::size_t limit_;
  std::size_t distance_;  // of the nearest
  std::string_view nearest_;
  bool is_alone_ = false;
};

// What stands in `candidate` in the place of the segment of `path` from `begin` to `end`, where all
// else is the same.
std::optional<std::string_view> SegmentThatDiffers(std::string_view candidate,
                                                   std::string_view path, std::size_t begin,
                                                   std::size_t end) {
  const std::string_view head = path.substr(0, begin);
  const std::string_view tail = path.substr(end);
  if (candidate.size() <= head.size() + tail.size()) return std::nullopt;
  if (!candidate.starts_with(head) || !candidate.ends_with(tail)) return std::nullopt;
  const auto segment = candidate.substr(begin, candidate.size() - head.size() - tail.size());
  if (segment.find('.') != std::string_view::npos) return std::nullopt;
  return segment;
}

}  // namespace

Guess Nearest(std::string_view name, std::span<const std::string_view> candidates) {
  Search search(name);
  for (const std::string_view candidate : candidates) search.Look(candidate, candidate);
  return search.found();
}

Guess NearestPath(std::string_view path, std::span<const std::string_view> candidates) {
  // By the segment that differs: a change of one is as near in a short path as in a long one.
  std::optional<Search> nearest;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    Search search(path.substr(begin, end - begin));
    for (const std::string_view candidate : candidates) {
      if (const auto segment = SegmentThatDiffers(candidate, path, begin, end)) {
        search.Look(candidate, *segment);
      }
    }
    if (nearest) {
      nearest->Join(search);
    } else if (!search.found().name.empty()) {
      nearest = search;
    }
    begin = end + 1;
  }
  return nearest ? nearest->found() : Guess();
}

std::string DidYouMean(const Guess& guess) {
  return guess.name.empty() ? std::string() : fmt::format("; did you mean `{}`?", guess.name);
}

void OfferGuess(diagnostics::Draft draft, Span span, const Guess& guess) {
  if (guess.is_sure) draft.Fix(span, std::string(guess.name));
}

bool IsFreeClassName(std::string_view name) { return !IsOneOf(name, kNoClass); }

bool IsFreeImageName(std::string_view name) { return !IsOneOf(name, kNoImage); }

bool IsFreeLabel(std::string_view name) {
  return !IsOneOf(name, kNoImage) && !IsOneOf(name, kNoLabel);
}

std::vector<std::string_view> Names::ImageNames() const {
  std::vector<std::string_view> names;
  for (const auto& [name, id] : images) names.push_back(name);
  return names;
}

Names CollectNames(std::span<const syntax::Ast* const> files, model::PolicyModel& model,
                   diagnostics::Sink& sink) {
  Collector collector(model, sink);
  for (const syntax::Ast* file : files) {
    for (const syntax::Declaration& declaration : file->declarations) {
      std::visit(collector, declaration);
    }
  }
  return collector.Finish();
}

}  // namespace curfew::check
