// Random bytes that nobody can guess.
#pragma once

#include "compiler/base/incarnation.h"
#include "compiler/base/result.h"

namespace curfew::host {

class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual Result<Bytes> Draw(std::size_t bytes) = 0;
};

Result<Incarnation> DrawIncarnation(Entropy& entropy);

}  // namespace curfew::host
