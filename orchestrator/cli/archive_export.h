#pragma once
// `cupel export s3`: evidence, journals, certificates and the audit log to a bucket.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

CommandRow s3_row(Context& context);

}  // namespace cupel::cli
