#include "orchestrator/store/server.h"

#include <fmt/format.h>

#include "base/ownership.h"
#include "base/paths.h"
#include "base/task.h"
#include "inventory/read_access.h"
#include "inventory/secret.h"
#include "inventory/yaml.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;
using inventory::YamlFields;

constexpr std::size_t kLargest = 16u << 10;    // bytes of store.yaml
constexpr std::size_t kLongestName = 63;       // PostgreSQL's NAMEDATALEN - 1
constexpr std::size_t kLongestSocket = 107;    // sockaddr_un's path, without the NUL
constexpr std::size_t kLongestHost = 253;      // RFC 1035, 3.1
constexpr std::chrono::seconds kPatience{30};  // for the password

bool is_plain_name(std::string_view text) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz_";
  constexpr std::string_view kAll = "abcdefghijklmnopqrstuvwxyz_0123456789";
  return !text.empty() && text.size() <= kLongestName && kFirst.contains(text.front()) &&
         text.find_first_not_of(kAll) == text.npos;
}

void take_name(YamlFields& fields, std::string_view key, std::string& name) {
  name = fields.text(key).value_or(name);
  if (!is_plain_name(name))
    fields.report(fields.place(key),
                  fmt::format("{} is of a-z, 0-9 and _, at most {} of them, and begins with a "
                              "letter",
                              key, kLongestName));
}

bool is_server_name(std::string_view text) {
  constexpr std::string_view kAll =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:";
  return !text.empty() && text.size() <= kLongestHost && text.find_first_not_of(kAll) == text.npos;
}

void take_host(YamlFields& fields, Server& server) {
  server.host = fields.required("host");
  if (server.host.empty()) return;
  const auto socket = fmt::format("{}/.s.PGSQL.{}", server.host, server.port);
  if (server.is_local() && socket.size() > kLongestSocket)
    fields.report(fields.place("host"), fmt::format("the path of a socket has at most {} bytes: {}",
                                                    kLongestSocket, socket));
  if (!server.is_local() && !is_server_name(server.host))
    fields.report(fields.place("host"),
                  "host is the name of a server, or the folder of its socket, such as "
                  "/run/postgresql");
}

void take_secrets(YamlFields& fields, const fs::path& folder, Server& server) {
  if (const auto password = fields.text("password")) {
    server.password = inventory::secret_of(*password, folder);
    if (!server.password)
      fields.report(fields.place("password"),
                    "password says where it is kept: file:PATH, env:NAME or cmd:COMMAND");
  }
  if (const auto ca = fields.text("ca")) server.authorities = (folder / *ca).lexically_normal();
  if (!server.is_local() && !server.host.empty() && server.authorities.empty())
    fields.report(fields.place("host"),
                  "over the network the server must prove its name: ca names a file (PEM) with the "
                  "certificates that may sign the server's");
}

Server server_in(YamlFields& fields, const fs::path& folder) {
  constexpr long kLastPort = 65535;
  Server server;
  server.port = fields.integer("port", 1, kLastPort).value_or(server.port);
  take_host(fields, server);
  take_name(fields, "database", server.database);
  take_name(fields, "user", server.user);
  take_name(fields, "schema", server.schema);
  take_secrets(fields, folder, server);
  fields.finish();
  return server;
}

/// As a connection string has a value: in quotes, and these and backslashes behind one.
std::string in_quotes(std::string_view value) {
  std::string all{"'"};
  for (const char each : value) {
    if (each == '\'' || each == '\\') all += '\\';
    all += each;
  }
  return all + "'";
}

}  // namespace

fs::path server_file(const fs::path& state) { return state / "store.yaml"; }

std::optional<Server> parse_server(std::string_view text, const std::string& file,
                                   const fs::path& folder,
                                   std::vector<inventory::Problem>& problems) {
  const auto before = problems.size();
  const auto document = inventory::parse_yaml(text, file, problems);
  if (!document) return std::nullopt;
  YamlFields fields{document->root, "store", file, problems};
  std::optional<Server> server;
  if (const auto* named = fields.value("postgresql")) {
    YamlFields own{*named, "postgresql", file, problems};
    server = server_in(own, folder);
  } else {
    fields.report(fields.place(), "postgresql is missing: the server that has the store");
  }
  fields.finish();
  return problems.size() == before ? server : std::nullopt;
}

Result<std::optional<Server>> server_of(const fs::path& state) {
  const auto file = server_file(state);
  if (!is_there(file)) return std::optional<Server>{};
  TRY(const auto text, read_trusted_file(file, kLargest));
  std::vector<inventory::Problem> problems;
  auto server = parse_server(text, file.string(), absolute_path(state), problems);
  if (!server) return Error{Code::kInvalid, inventory::to_string(problems)};
  return server;
}

Result<std::string> connection_text(const Server& server, bool read_only) {
  // Each is given, so that no PG... variable of the environment changes it. A peer that is silent
  // is given up by both ends, a transaction of a process that was stopped by the server, and a lock
  // is not waited for longer than SQLite's.
  std::string text = fmt::format(
      "host={} hostaddr='' port={} dbname={} user={} application_name=cupel client_encoding=UTF8 "
      "target_session_attrs=any connect_timeout=10 tcp_user_timeout=10000 keepalives_idle=10 "
      "keepalives_interval=5 keepalives_count=3 gssencmode=disable options={}",
      in_quotes(server.host), server.port, in_quotes(server.database), in_quotes(server.user),
      in_quotes(
          fmt::format("-c search_path={} -c lock_timeout=10000 -c client_min_messages=warning "
                      "-c idle_in_transaction_session_timeout=60000 -c tcp_user_timeout=10000 "
                      "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 "
                      "-c tcp_keepalives_count=3 -c default_transaction_read_only={}",
                      server.schema, read_only ? "on" : "off")));
  if (server.is_local())
    text += " sslmode=disable";
  else
    text += " sslmode=verify-full ssl_min_protocol_version=TLSv1.2 sslrootcert=" +
            in_quotes(server.authorities.string());
  if (!server.password) return text;
  asio::io_context io{1};
  TRY(const auto password,
      within("the password of the store's server",
             run_to_end(io, inventory::resolve_secret(*server.password, Deadline::in(kPatience)))));
  return text + " password=" + in_quotes(password);
}

}  // namespace cupel::store
