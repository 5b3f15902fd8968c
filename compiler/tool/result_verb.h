// A verb whose work ends in a status, or in a failure that is complained of; with --color.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/verb.h"
#include "compiler/tool/color_option.h"

namespace curfew::tool {

class ResultVerb : public Verb {
 public:
  void Configure(CLI::App& app) final;
  int Run(Console& console) final;

 private:
  // As Configure and Run of Verb. --color is the frame's, and was heeded.
  virtual void ConfigureRest(CLI::App& app) = 0;
  virtual Result<int> TryRun(Console& console) = 0;

  ColorOption color_;
};

}  // namespace curfew::tool
