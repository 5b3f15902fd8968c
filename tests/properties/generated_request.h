// Requests that nobody sent, of every action and stage, with facts that are present, absent or
// unknown, and with the edges (empty text, sizes at a bound, the longest host) among the values.
#pragma once

#include "compiler/module/request.h"
#include "tests/properties/random.h"

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::properties {

// Requests of one set and the texts that they view.
class RequestGenerator {
 public:
  explicit RequestGenerator(Random& random) : r_(random) {}

  module::Request Generate();

  // The slot count of an action with the attributes that generated policies declare.
  static std::size_t SlotCount(schema::Action action);

 private:
  module::Value Text(std::string text);
  module::Value Items(const std::vector<std::string>& pool);
  module::Value ValueOf(schema::Action action, schema::Slot slot);
  module::Value Capabilities();
  // What a client would send that is allowed what it asks for.
  void MakeLikely(module::Request& request);
  void MakeOneOfMany(module::Request& request);
  std::string DigestBytes();
  std::string AddressBytes();

  Random& r_;
  std::deque<std::string> texts_;
  std::deque<std::vector<module::Value>> items_;
};

// A request in lines, for a message.
std::string Describe(const module::Request& request);

}  // namespace curfew::properties
