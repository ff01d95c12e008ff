#include "inventory/secret.h"

#include <cstdlib>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "inventory/check_files.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kLongestSecret = 4096;
constexpr std::chrono::seconds kCommandPatience{30};

Result<std::string> one_line(std::string text, const std::string& where) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (text.empty()) return Error{Code::kInvalid, "the secret from " + where + " is empty"};
  if (text.find('\n') != text.npos)
    return Error{Code::kInvalid, "the secret from " + where + " has more than one line"};
  return text;
}

Result<std::string> from_file(const std::string& path) {
  TRY(check_secret_file(path));
  TRY(auto text, read_file(path, kLongestSecret));
  return one_line(std::move(text), path);
}

Task<Result<std::string>> from_command(std::string command, Deadline deadline) {
  ProcessRequest request;
  request.argv = {"/bin/sh", "-c", command};
  request.output_limit = kLongestSecret;
  const auto until = deadline.sooner(kCommandPatience);
  CO_TRY(auto outcome, co_await run_process(std::move(request), until));
  if (outcome.exit_status != 0)
    co_return Error{Code::kFailed, "secret command '" + command + "' ended with exit status " +
                                       std::to_string(outcome.exit_status) + ": " +
                                       shortened(printable(outcome.error), 200)};
  co_return one_line(std::move(outcome.output), "command '" + command + "'");
}

}  // namespace

Task<Result<std::string>> resolve_secret(SecretRef ref, Deadline deadline) {
  switch (ref.kind) {
    case SecretRef::Kind::file:
      co_return from_file(ref.where);
    case SecretRef::Kind::cmd:
      co_return co_await from_command(ref.where, deadline);
    case SecretRef::Kind::env:
      break;
  }
  const char* value = std::getenv(ref.where.c_str());
  if (value == nullptr)
    co_return Error{Code::kInvalid, "environment variable " + ref.where + " is not set"};
  co_return one_line(value, "environment variable " + ref.where);
}

}  // namespace cupel::inventory
