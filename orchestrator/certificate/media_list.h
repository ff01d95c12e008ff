#pragma once
// The media that were to be erased, as a certificate has them: one entry for each serial number.
// Source of the fields: NIST SP 800-88 Rev. 1, Appendix G. Pure.
#include <boost/json/array.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/record/node_record.h"

namespace cupel::certificate {

/// One drive that was to be erased.
struct CertifiedMedium {
  std::string serial{};
  std::string result{};  // "erased", or why it is none: "failed", "skipped", "not erased"
  std::string method{};  // "Purge" or "Clear" of NIST SP 800-88; empty: it was not erased
  std::string technique{}, tool{};  // of an erased one
  std::string why{};                // of any other
  std::string at{};                 // when its step ended, UTC
};

/// Empty where the node's run was to erase none.
boost::json::array media_json(const record::NodeRecord& record);

/// `node`: its entry in the certificate, whose name is `name`. Errors: kMalformed: a medium without
/// a serial number, or that says how it was erased where it was not.
Result<std::vector<CertifiedMedium>> read_media(const boost::json::value& node,
                                                std::string_view name);

}  // namespace cupel::certificate
