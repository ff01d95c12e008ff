#include "bmc/redfish/refusals.h"

#include <array>

#include "base/text.h"

namespace cupel::bmc::redfish {
namespace {

using namespace std::chrono_literals;

struct Meaning {
  std::string_view words;  // lower case
  Code code;
  std::chrono::milliseconds retry_after;
  std::string_view advice;
};

constexpr std::array kMeanings{
    // HPE iLO while the firmware runs its tests: nothing can be set for the next boot.
    Meaning{"unabletomodifyduringsystempost", Code::kBusy, 30s,
            "the machine is in POST; it can be set once that is over"},
    // Dell: "data sources unavailable", after a restart of the iDRAC or of the machine.
    Meaning{"sys518", Code::kBusy, 10s, "the iDRAC is still gathering what it needs"},
    // iDRAC10 for up to a minute after power-off.
    Meaning{"actionparametervalueconflict", Code::kConflict, 10s, "not in the state it is in now"},
    // DSP0266, 13.3.7.2: all that this session may do is change its password.
    Meaning{"passwordchangerequired", Code::kRefused, 0s,
            "the BMC wants this account's password changed before anything else: "
            "cupel bmc NODE password rotate"},
    Meaning{"lockdown", Code::kUnsupported, 0s,
            "the BMC is in lockdown mode, which a person has to lift first"},
    Meaning{"already committed", Code::kConflict, 0s,
            "a job with other settings waits for the next restart: restart the machine, or delete "
            "that job, and try again"},
    // One update at a time. Source: DSP8011, Update.1.0.UpdateInProgress, and Supermicro's own.
    Meaning{"updateinprogress", Code::kBusy, 60s, "another update is running on this BMC"},
    Meaning{"oemfirmwarealreadyinupdatemode", Code::kBusy, 60s,
            "another update is running on this BMC"},
    Meaning{"resourceinuse", Code::kBusy, 60s, "another user has claimed it"},
    Meaning{"rac0679", Code::kBusy, 60s, "a job is running on this iDRAC"},
    // OpenBMC: this very image is there. Only uploads and creations can be refused so.
    Meaning{"resourcealreadyexists", Code::kConflict, 0s,
            "the BMC has this already: for an image, it runs or waits for a restart"},
    Meaning{"oemlicensenotpassed", Code::kUnsupported, 0s, "the BMC needs a licence for this"},
    Meaning{"no space left", Code::kFailed, 0s,
            "the BMC has no room for the image: reset the BMC and try again"},
    Meaning{"propertynotwritable", Code::kUnsupported, 0s, "this BMC does not let it be set"},
    Meaning{"readonlyproperty", Code::kUnsupported, 0s, "this BMC does not let it be set"},
};

constexpr std::string_view kHttp = "HTTP ";

/// What the request itself was answered with: a message of the BMC may name another status.
std::string_view answer_in(const Error& error) {
  const auto at = error.what.find(kHttp);
  return at == std::string::npos ? std::string_view{} : std::string_view{error.what}.substr(at);
}

}  // namespace

bool says(const Error& error, std::string_view word) {
  // What we sent ourselves stands behind it.
  const auto theirs = std::string_view{error.what}.substr(0, error.what.find("; sent {"));
  return lower_case(theirs).find(lower_case(word)) != std::string::npos;
}

bool is_http(const Error& error, int status) {
  return error.what.find("HTTP " + std::to_string(status)) != std::string::npos;
}

Error unanswered(Error error) {
  const auto answer = answer_in(error);
  const bool gateway = answer.starts_with("HTTP 502") || answer.starts_with("HTTP 504");
  const bool no_reason = answer == "HTTP 500" || answer.starts_with("HTTP 500: a web page");
  if (gateway || no_reason || error.code == Code::kMalformed) error.code = Code::kUnreachable;
  return error;
}

Error explained(Error error) {
  if (error.what.find("HTTP ") == std::string::npos) return error;
  for (const auto& meaning : kMeanings) {
    if (!says(error, meaning.words)) continue;
    if (error.what.find(meaning.advice) != std::string::npos) break;  // already reported
    error.code = meaning.code;
    if (error.retry_after.count() == 0) error.retry_after = meaning.retry_after;
    error.what += "; " + std::string{meaning.advice};
    break;
  }
  return error;
}

}  // namespace cupel::bmc::redfish
