#include "orchestrator/cli/ca_file.h"

#include "base/ownership.h"

namespace cupel::cli {

Result<void> check_ca_file(const std::string& file) {
  constexpr std::size_t kLargest = 1u << 20;
  if (file.empty()) return ok();
  TRY(const auto pem, read_trusted_file(file, kLargest));
  if (pem.contains("-----BEGIN ")) return ok();
  return Error{Code::kInvalid, file + " has no certificate in PEM"};
}

}  // namespace cupel::cli
