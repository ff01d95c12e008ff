#include "orchestrator/controller/certificate_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/file.h"
#include "base/ownership.h"
#include "base/self_signed.h"
#include "inventory/check_files.h"

namespace cupel::controller {
namespace {

constexpr std::size_t kLargestPem = 256u << 10;

}  // namespace

Result<std::string> valid_certificate(const std::string& file, std::chrono::sys_seconds now) {
  TRY(auto pem, read_trusted_file(file, kLargestPem));
  TRY(const auto valid, within(file, certificate_validity(pem)));
  if (valid.begin > now)
    return Error{Code::kInvalid,
                 fmt::format("{}: valid from {:%Y-%m-%dT%H:%M:%SZ}, and this machine's clock says "
                             "{:%Y-%m-%dT%H:%M:%SZ}: machines reject it. Compare the clock: "
                             "timedatectl",
                             file, valid.begin, now)};
  if (valid.end > now) return pem;
  return Error{Code::kInvalid,
               fmt::format("{}: expired on {:%Y-%m-%d}: machines reject it. Renew it: the file is "
                           "read again without a restart",
                           file, valid.end)};
}

Result<std::string> certificate_key(const std::string& file) {
  TRY(inventory::check_secret_file(file));
  return read_file(file, kLargestPem);
}

}  // namespace cupel::controller
