// Secret: text that is wiped when its owner goes (a disk key, a token). It cannot be copied or
// printed by accident.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace curfew {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  // A move of the text would leave a short one behind: it is copied, and wiped.
  Secret(Secret&& other) noexcept : Secret(other.text_) { other.Wipe(); }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      Wipe();
      text_ = other.text_;
      other.Wipe();
    }
    return *this;
  }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { Wipe(); }

  // The bytes, for the one call that needs them.
  [[nodiscard]] std::string_view Reveal() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  void Wipe();

 private:
  std::string text_;
};

// Overwrites `text` in a way that the compiler may not leave out, then empties it.
void WipeText(std::string& text);

}  // namespace curfew
