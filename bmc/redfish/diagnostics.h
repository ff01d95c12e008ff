#pragma once
// Diagnostic data by Redfish. Vendors' own collections (Dell's SupportAssist, HPE's AHS) are other
// actions, and not here. Source: DSP0268, LogService.CollectDiagnosticData; DSP0266, "Asynchronous
// operations".
#include "bmc/diagnostics.h"
#include "bmc/redfish/client.h"
#include "bmc/redfish/layout.h"

namespace cupel::bmc::redfish {

/// The log services of the machine's Systems and of their managers that have the action, with what
/// they allow, inline or by ActionInfo. Those that hand out debug tokens are left out. Errors:
/// kUnsupported where there is none.
Task<Result<DiagnosticOffers>> read_diagnostic_offers(Client& client, Layout layout,
                                                      Deadline deadline);

/// Where the task names no log entry, the entries that came or changed meanwhile are those of the
/// collection: a DGX makes several, an XCC fills one that was there. Where the answer to the action
/// is lost, they show whether it was heard. Cancel-safe; a task that runs goes on. Errors: see
/// facet::Diagnostics.
Task<Result<std::vector<DiagnosticData>>> collect_diagnostic_data(Client& client,
                                                                  DiagnosticOrder order,
                                                                  Deadline deadline);

/// Errors: see facet::Diagnostics. What came before an error is in `sink` already.
Task<Result<std::uint64_t>> download_diagnostic_data(Client& client, DiagnosticData file,
                                                     DiagnosticSink sink, std::uint64_t most,
                                                     Deadline deadline);

}  // namespace cupel::bmc::redfish
