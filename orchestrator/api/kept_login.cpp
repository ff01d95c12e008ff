#include "orchestrator/api/kept_login.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/digest.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/check_files.h"
#include "orchestrator/api/service_client.h"

namespace cupel::api {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr int kSchema = 1;
constexpr std::size_t kLargestFile = 256u << 10, kNameLength = 16;
constexpr seconds kRenewBefore{60};
constexpr std::chrono::seconds kRenewPatience{30};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

/// "https://host:8443"
std::string url_of(const ServerAddress& server) {
  const bool is_v6 = server.host.contains(':');
  return fmt::format("https://{}{}{}:{}", is_v6 ? "[" : "", lower_case(server.host),
                     is_v6 ? "]" : "", server.port);
}

bool is_over_soon(const KeptLogin& login) {
  return login.tokens.expires <= std::chrono::system_clock::now() + kRenewBefore;
}

Error ended(const ServerAddress& server, std::string_view why) {
  return {Code::kRefused,
          fmt::format("the login at {} has ended{}{}; for a new one: cupel login "
                      "--server {}",
                      url_of(server), why.empty() ? "" : ": ", why, url_of(server))};
}

/// As long as it lives no other command renews a login of this folder: one that shows a refresh
/// token a second time may end the login for good (RFC 9700, 4.14.2). Where the file system has no
/// locks nothing is held.
class RenewingAlone {
 public:
  explicit RenewingAlone(const fs::path& folder)
      : folder_{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)} {
    while (folder_ >= 0 && ::flock(folder_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~RenewingAlone() {
    if (folder_ >= 0) ::close(folder_);
  }
  RenewingAlone(const RenewingAlone&) = delete;
  RenewingAlone& operator=(const RenewingAlone&) = delete;

 private:
  int folder_ = -1;
};

/// Where another command has renewed it meanwhile, its own is as good.
Result<std::string> renewed(const ServerAddress& server, const fs::path& file) {
  const RenewingAlone alone{file.parent_path()};
  TRY(auto kept, read_login(file));
  if (!kept) return ended(server, "it was forgotten meanwhile");
  auto& login = *kept;
  if (!is_over_soon(login)) return login.tokens.id;
  if (login.tokens.refresh.empty()) return ended(server, "");
  asio::io_context io{1};
  auto renewing = refresh_login(login.provider, login.endpoints, login.tokens.refresh,
                                Deadline::in(kRenewPatience));
  auto tokens = run_to_end(io, std::move(renewing));
  if (!tokens) {
    if (tokens.error().code == Code::kRefused) return ended(server, tokens.error().what);
    return std::move(tokens).error().within(fmt::format("the login at {}", url_of(server)));
  }
  login.tokens = *std::move(tokens);
  TRY(write_login(file, login));
  return login.tokens.id;
}

}  // namespace

Result<fs::path> login_file(const ServerAddress& server) {
  if (!server.socket.empty())
    return Error{Code::kInvalid,
                 "a login is for a service over TLS, https://HOST:PORT: a Unix socket knows its "
                 "user"};
  fs::path folder = variable("XDG_CONFIG_HOME");
  if (!folder.is_absolute()) {
    const fs::path home = variable("HOME");
    if (!home.is_absolute())
      return Error{Code::kInvalid, "neither XDG_CONFIG_HOME nor HOME names a folder for logins"};
    folder = home / ".config";
  }
  const auto name = sha256_hex(url_of(server)).substr(0, kNameLength);
  return folder / "cupel" / "logins" / (name + ".json");
}

Result<std::optional<KeptLogin>> read_login(const fs::path& file) {
  if (!is_there(file)) return std::optional<KeptLogin>{};
  TRY(inventory::check_secret_file(file));
  TRY(const auto text, read_file(file, kLargestFile));
  const auto kept = parse_json(text);
  const auto word = [&](std::string_view path) {
    return kept ? text_at(*kept, path).value_or("") : std::string{};
  };
  KeptLogin login;
  login.provider = {word("issuer"), word("client"), word("scope"), word("ca")};
  login.endpoints = {word("token_issuer"), "", word("token_endpoint")};
  login.tokens = {word("id_token"), word("refresh_token"), {}};
  const auto expires = kept ? number_at(*kept, "expires").value_or(0) : 0;
  constexpr double kMost = 253402300799.0;
  const bool sound = kept && number_at(*kept, "schema") == kSchema && !login.tokens.id.empty() &&
                     !login.provider.issuer.empty() && expires > 0 && expires <= kMost;
  if (!sound)
    return Error{Code::kMalformed, fmt::format("{} is no login of Cupel: remove it, and "
                                               "log in again: cupel login",
                                               file.string())};
  login.tokens.expires = std::chrono::sys_seconds{seconds{static_cast<std::int64_t>(expires)}};
  return std::optional{std::move(login)};
}

Result<void> write_login(const fs::path& file, const KeptLogin& login) {
  std::error_code failed;
  const auto folder = file.parent_path();
  if (!is_folder(folder)) {
    fs::create_directories(folder, failed);
    if (!failed) fs::permissions(folder, fs::perms::owner_all, failed);
  }
  if (failed)
    return Error{Code::kStorage, fmt::format("{}: {}", folder.string(), failed.message())};
  const json::object kept{{"schema", kSchema},
                          {"issuer", login.provider.issuer},
                          {"client", login.provider.client},
                          {"scope", login.provider.scope},
                          {"ca", login.provider.ca},
                          {"token_issuer", login.endpoints.issuer},
                          {"token_endpoint", login.endpoints.token},
                          {"id_token", login.tokens.id},
                          {"refresh_token", login.tokens.refresh},
                          {"expires", login.tokens.expires.time_since_epoch().count()}};
  return write_file(file, json::serialize(kept) + "\n");
}

Result<std::string> token_of_login(const ServerAddress& server) {
  const auto file = login_file(server);
  if (!file) return std::string{};
  TRY(const auto login, read_login(*file));
  if (!login) return std::string{};
  if (!is_over_soon(*login)) return login->tokens.id;
  return renewed(server, *file);
}

}  // namespace cupel::api
