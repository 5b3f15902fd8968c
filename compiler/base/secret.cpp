#include "compiler/base/secret.h"

#include <cstring>

namespace curfew {

void WipeText(std::string& text) {
  explicit_bzero(text.data(), text.size());
  text.clear();
}

void Secret::Wipe() { WipeText(text_); }

}  // namespace curfew
