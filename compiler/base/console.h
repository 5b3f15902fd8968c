// Console: where a verb's results and diagnostics go. Results go to standard output and diagnostics
// to standard error; nobody else writes to either. Writing never fails at the place where it is
// called: the first error is kept, and `Finish` tells it.
#pragma once

#include "compiler/base/result.h"

#include <string>
#include <string_view>

namespace curfew {

class Console {
 public:
  // The descriptors are borrowed. Colour is the caller's decision (see ForProcess).
  Console(int results, int diagnostics, bool colour_results, bool colour_diagnostics);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  // Results: buffered until a line is complete on a terminal, otherwise until the buffer is full.
  void Out(std::string_view text);
  // Diagnostics and progress: written at once, after what is buffered of the results.
  void Err(std::string_view text);
  // "curfew: message", on a line of its own.
  void Complain(std::string_view message);
  void Flush();

  // Against what was decided for the descriptors, where a person asks for it.
  void set_colour(bool colour) { colour_results_ = colour_diagnostics_ = colour; }
  [[nodiscard]] bool colour_results() const { return colour_results_; }
  [[nodiscard]] bool colour_diagnostics() const { return colour_diagnostics_; }
  // The reader of the results has gone (`| head`): more results are dropped in silence.
  [[nodiscard]] bool reader_gone() const { return reader_gone_; }

  // Writes what is left, and tells the first error of writing results. A reader that has gone is
  // none: it has what it wanted.
  Outcome Finish();

 private:
  void WriteResults(std::string_view text);

  int results_;
  int diagnostics_;
  bool colour_results_;
  bool colour_diagnostics_;
  bool line_buffered_;
  bool reader_gone_ = false;
  int error_ = 0;  // the first errno of writing results
  std::string buffer_;
};

// Colour on a descriptor: it is a terminal, TERM is not "dumb", and NO_COLOR is unset or empty.
bool WantsColour(int fd);

}  // namespace curfew
