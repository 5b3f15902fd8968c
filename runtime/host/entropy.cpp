#include "runtime/host/entropy.h"

namespace curfew::host {

Result<Incarnation> DrawIncarnation(Entropy& entropy) {
  CURFEW_TRY(const Bytes random, entropy.Draw(IncarnationRandomBytes));
  return NewIncarnation(random);
}

}  // namespace curfew::host
