#pragma once
// The login that a person has at a service, in a file of their own: `cupel login` writes it,
// commands with $CUPEL_SERVER read it where there is no $CUPEL_TOKEN, and renew it before it ends.
#include <filesystem>
#include <optional>

#include "orchestrator/api/device_login.h"

namespace cupel::api {

struct ServerAddress;

struct KeptLogin {
  Provider provider{};
  ProviderEndpoints endpoints{};
  ProviderTokens tokens{};
};

/// One for each service: below $XDG_CONFIG_HOME/cupel/logins, else ~/.config/cupel/logins. Errors:
/// kInvalid: neither variable names a folder, or it is no service over TLS.
Result<std::filesystem::path> login_file(const ServerAddress& server);

/// Nothing where there is no file. Errors: kInvalid: others may read or change it; kMalformed.
Result<std::optional<KeptLogin>> read_login(const std::filesystem::path& file);

/// For its owner alone. Errors: kStorage and others of write_file().
Result<void> write_login(const std::filesystem::path& file, const KeptLogin& login);

/// What the service is shown: of the kept login, renewed where it ends within a minute. Empty where
/// there is none. Errors: kRefused: it has ended; those of refresh_login() and read_login().
Result<std::string> token_of_login(const ServerAddress& server);

}  // namespace cupel::api
