// What source::FindTextFaults finds, as the author is told of it.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/source/source.h"
#include "compiler/source/text_faults.h"

namespace curfew::syntax {

// Reports one fault of the file's text; whether what stands behind it can be read.
bool ReportFault(const source::TextFault& fault, source::FileId file, std::string_view text,
                 diagnostics::Sink& sink);

}  // namespace curfew::syntax
