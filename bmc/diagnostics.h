#pragma once
// Diagnostic data that a BMC collects for its vendor: what it offers, what is asked of it, and the
// files that come of it. Source: DSP0268, LogService.CollectDiagnosticData, LogEntry.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inventory/parts.h"

namespace cupel::bmc {

/// A log service that collects such data.
struct DiagnosticOffer {
  std::string service{};                 // its URI
  std::vector<std::string> types{};      // DiagnosticDataType; empty: not reported
  std::vector<std::string> oem_types{};  // OEMDiagnosticDataType; empty: none, or not reported
  friend bool operator==(const DiagnosticOffer&, const DiagnosticOffer&) = default;
};

/// All of one BMC. `unknown`: log services that could not be read, and may offer it too.
struct DiagnosticOffers {
  std::vector<DiagnosticOffer> services{};
  std::vector<inventory::Unknown> unknown{};
};

/// One collection, of one log service.
struct DiagnosticOrder {
  std::string service{};   // its URI
  std::string type{};      // DiagnosticDataType, in the BMC's own spelling
  std::string oem_type{};  // OEMDiagnosticDataType, where the type is OEM
  friend bool operator==(const DiagnosticOrder&, const DiagnosticOrder&) = default;
};

/// A file that a collection has left on the BMC.
struct DiagnosticData {
  std::string entry{};                   // URI of its log entry
  std::string uri{};                     // AdditionalDataURI, as the BMC has it
  std::optional<std::uint64_t> bytes{};  // AdditionalDataSizeBytes; nothing: not reported
  friend bool operator==(const DiagnosticData&, const DiagnosticData&) = default;
};

/// Takes the bytes of a file as they come. Its error ends the download.
using DiagnosticSink = std::function<Result<void>(std::string_view piece)>;

/// The data type "OEM", which another word is chosen by.
inline constexpr std::string_view kOemDiagnostics = "OEM";

/// What to ask of which log service for `requested`: "Manager", "PreOS", "OS", "CPER",
/// "CPERSection" or "OEM:NAME". Every service that reports the type is asked. Where none does,
/// those are that report no types: a manager's for Manager, a System's for the others; where that
/// leaves none, every one of them. NAME fits the vendor's word or what stands behind its "="
/// ("FPGA": "DiagnosticType=FPGA"), in any case. Pure.
/// Errors: kInvalid: no such type, or no service offers it; what is offered is listed.
Result<std::vector<DiagnosticOrder>> diagnostic_orders(std::span<const DiagnosticOffer> offers,
                                                       std::string_view requested);

/// "Managers/HGX_BMC_0/LogServices/Dump: Manager"; "types not reported". For people.
std::string to_string(const DiagnosticOffer& offer);

/// "Managers/HGX_BMC_0/LogServices/Dump" of its URI, printable. For people.
std::string short_name_of_service(std::string_view uri);

}  // namespace cupel::bmc
