#pragma once
// `cupel export otlp`: a run that is over as OpenTelemetry's traces, logs and metrics.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

CommandRow otlp_row(Context& context);

}  // namespace cupel::cli
