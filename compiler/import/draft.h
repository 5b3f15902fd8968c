// What a shape makes of its document: classes with their statements, each with the place that it
// comes from. It becomes text here, through the formatter. What a person must fill in stands there
// as a name that begins with `fill_in` and is declared nowhere, so that the result compiles only
// when it is done.
#pragma once

#include "compiler/import/fields.h"
#include "compiler/values/url.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::import {

struct Options {
  std::string image_digest;  // "sha256:…", for sources that name none
  std::string ttl;           // "30m", for sources that state none
};

// Names that are each used once: the second `a` is `a_2`. Linear, however many are alike.
class UniqueNames {
 public:
  std::string Next(const std::string& base);

 private:
  std::map<std::string, std::size_t> counts_;
};

struct Statement {
  source::Span from;                 // nowhere: the importer's own
  std::vector<std::string> remarks;  // lines of comment above it
  std::string text;                  // empty: the remarks alone
};

class DraftClass {
 public:
  DraftClass(std::string class_name, source::Span from)
      : name_(std::move(class_name)), from_(from) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] source::Span from() const { return from_; }

  std::string image_ref;  // may be empty
  std::vector<Statement> network;
  std::vector<Statement> lifetime;
  std::vector<Statement> filesystem;  // remarks only
  std::vector<Statement> rules;
  bool has_ttl = false;
  bool reads_https = false;  // of a rule that reads more than the name

  // "api_github_com: ", the second time "api_github_com_2: ".
  std::string Label(std::string_view from_text);

 private:
  std::string name_;
  source::Span from_;
  UniqueNames labels_;
};

struct Draft {
  std::vector<DraftClass> classes;
  UniqueNames names;

  // A name of the language that is like the text and not taken: "Research Bot" is research_bot.
  DraftClass& AddClass(std::string_view from_text, source::Span from);
};

// Lower-case letters, digits and `_`; never empty, never a word that cannot be declared.
std::string NameLike(std::string_view text);

// What a source names as a destination.
struct Destination {
  enum class Kind : std::uint8_t { Host, Block, Everything };
  Kind kind = Kind::Host;
  values::HostPattern host;
  values::Cidr block;
  std::string port;  // ":8443" where the source states one
};
// Nothing where the text is none, which is reported. A wildcard of a source may span labels; the
// pattern is what is narrower in an allow, and what is wider in a deny, and a finding says so.
enum class Effect : std::uint8_t { Allow, Deny };
std::optional<Destination> DestinationOf(const Node& node, std::string_view pointer, Effect effect,
                                         Reading& reading);

// A token that the source attaches to a destination without saying which: the placeholder that
// stands for it behind `using`. Reported.
std::string TokenFor(const Destination& destination, source::Span from, std::string_view pointer,
                     Reading& reading);

// What is the same for every shape: adds to the class an allow of a destination on https.
struct Allow {
  source::Span from;
  std::string pointer;
  std::string methods = "any";
  std::string path = {};         // a glob, or nothing
  std::string placeholder = {};  // a token, or nothing
  std::string condition = {};    // behind `when`, or nothing
  std::vector<std::string> remarks = {};
};
void AddAllow(DraftClass& into, const Destination& destination, Allow allow, Reading& reading);
void AddDeny(DraftClass& into, const Destination& destination, source::Span from);

// `ttl`, from a number of units of `unit_ms`.
void AddTtl(DraftClass& into, std::int64_t count, std::int64_t unit_ms, source::Span from,
            std::string_view pointer, Reading& reading);

// The policy set, formatted. Reports what the source leaves out and Curfew demands.
std::string Write(Draft& draft, const Options& options, Reading& reading);

}  // namespace curfew::import
