// A server as a command line names it, and as it is written down.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <map>

#include "base/file.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/yaml.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/modes.h"
#include "orchestrator/store/postgresql.h"
#include "orchestrator/store/purpose.h"
#include "orchestrator/store/server.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestUrl = 4096;
constexpr std::string_view kForm =
    "postgresql://USER@HOST/DATABASE?schema=NAME&password=file:PATH&ca=PATH, or "
    "postgresql:///DATABASE?host=/run/postgresql";

/// Of a store.yaml, in the order in which they are written. `sslmode` is none: there is one mode.
constexpr std::array<std::string_view, 7> kKeys{"host",   "port",     "database", "user",
                                                "schema", "password", "ca"};

using Fields = std::map<std::string, std::string, std::less<>>;

int hex_digit(char digit) {
  constexpr std::string_view kLower = "0123456789abcdef", kUpper = "0123456789ABCDEF";
  const auto at = std::min(kLower.find(digit), kUpper.find(digit));
  return at == kLower.npos ? -1 : static_cast<int>(at);
}

/// RFC 3986, 2.1. What is no escape is a problem.
std::string unescaped(std::string_view text, std::vector<std::string>& problems) {
  std::string all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      all += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      problems.emplace_back("a % is followed by two hexadecimal digits, as in %20");
      return all;
    }
    all += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return all;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view kPlain = "-._~/:,";
  std::string all;
  for (const char each : text) {
    const bool plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                       (each >= '0' && each <= '9') || kPlain.contains(each);
    all += plain ? std::string{each} : fmt::format("%{:02X}", static_cast<unsigned char>(each));
  }
  return all;
}

/// "host", "host:5433", "[::1]:5433".
void take_address(std::string_view text, Fields& fields, std::vector<std::string>& problems) {
  auto host = text;
  const auto bracket = text.starts_with('[') ? text.find(']') : text.npos;
  const auto colon = text.find(':', bracket == text.npos ? 0 : bracket);
  if (colon != text.npos) {
    host = text.substr(0, colon);
    fields["port"] = std::string{text.substr(colon + 1)};
  }
  if (bracket != text.npos) host = text.substr(1, bracket - 1);
  if (!host.empty()) fields["host"] = unescaped(host, problems);
}

void take_user(std::string_view text, Fields& fields, std::vector<std::string>& problems) {
  if (text.contains(':'))
    problems.emplace_back(
        "a password on a command line is seen by every user of the machine: change it, and say "
        "where it is kept: ?password=file:PATH, env:NAME or cmd:COMMAND");
  else
    fields["user"] = unescaped(text, problems);
}

void take_option(std::string_view text, Fields& fields, std::vector<std::string>& problems) {
  const auto equals = std::min(text.find('='), text.size());
  auto key = unescaped(text.substr(0, equals), problems);
  auto value = unescaped(text.substr(std::min(equals + 1, text.size())), problems);
  if (key == "dbname") key = "database";
  if (key == "sslrootcert") key = "ca";
  if (key == "sslmode" && value == "verify-full") return;
  if (std::ranges::find(kKeys, key) == kKeys.end())
    problems.push_back(fmt::format("{} is no part of it{}", printable(shortened(key, 40)),
                                   inventory::did_you_mean(key, kKeys)));
  else if (!fields.emplace(key, std::move(value)).second)
    problems.push_back(key + " is there twice");
}

Fields fields_of(std::string_view url, std::vector<std::string>& problems) {
  Fields fields;
  auto rest = url.substr(url.find("://") + 3);
  const auto query = std::min(rest.find('?'), rest.size());
  auto options = rest.substr(query);
  rest = rest.substr(0, query);
  const auto slash = std::min(rest.find('/'), rest.size());
  auto authority = rest.substr(0, slash);
  if (slash + 1 < rest.size()) fields["database"] = unescaped(rest.substr(slash + 1), problems);
  if (const auto at = authority.rfind('@'); at != authority.npos) {
    take_user(authority.substr(0, at), fields, problems);
    authority.remove_prefix(at + 1);
  }
  take_address(authority, fields, problems);
  while (!options.empty()) {
    options.remove_prefix(1);  // "?", "&"
    const auto end = std::min(options.find('&'), options.size());
    if (end > 0) take_option(options.substr(0, end), fields, problems);
    options.remove_prefix(end);
  }
  return fields;
}

/// As a store.yaml says it.
std::string yaml_of(const Fields& fields) {
  if (fields.empty()) return "postgresql: {}\n";
  std::string text{"postgresql:\n"};
  for (const auto key : kKeys)
    if (const auto found = fields.find(key); found != fields.end())
      text +=
          fmt::format("  {}: {}\n", key,
                      key == "port" ? found->second
                                    : boost::json::serialize(boost::json::value(found->second)));
  return text;
}

Fields fields_of(const Server& server) {
  Fields fields{{"host", server.host},
                {"port", std::to_string(server.port)},
                {"database", server.database},
                {"user", server.user},
                {"schema", server.schema}};
  if (!server.authorities.empty()) fields["ca"] = server.authorities.string();
  if (!server.password) return fields;
  using enum inventory::SecretRef::Kind;
  const auto kind = server.password->kind;
  fields["password"] = (kind == env    ? "env:"
                        : kind == file ? "file:"
                                       : "cmd:") +
                       server.password->where;
  return fields;
}

Error invalid(const std::vector<std::string>& problems) {
  std::string all;
  for (const auto& each : problems)
    all += fmt::format("{}the server: {}", all.empty() ? "" : "\n", each);
  return Error{Code::kInvalid, all};
}

}  // namespace

Result<Server> parse_server_url(std::string_view url, const fs::path& folder) {
  if (!url.starts_with("postgresql://") && !url.starts_with("postgres://"))
    return invalid({fmt::format("it is named by {}", kForm)});
  if (url.size() > kLongestUrl || valid_utf8(url) != url || printable(url) != url)
    return invalid(
        {fmt::format("its name has at most {} bytes, all of them printable UTF-8", kLongestUrl)});
  std::vector<std::string> problems;
  auto fields = fields_of(url, problems);
  if (const auto port = fields.find("port"); port != fields.end() && !number<long>(port->second)) {
    problems.emplace_back("port is a number");
    fields.erase(port);
  }
  std::vector<inventory::Problem> found;
  auto server = parse_server(yaml_of(fields), "", folder, found);
  for (const auto& each : found) problems.push_back(each.what);
  if (!problems.empty() || !server) return invalid(problems);
  return *std::move(server);
}

std::string to_yaml(const Server& server) { return yaml_of(fields_of(server)); }

std::string to_url(const Server& server) {
  auto fields = fields_of(server);
  std::string url = fmt::format("postgresql://{}@", escaped(fields["user"]));
  if (!server.is_local()) {
    const bool v6 = server.host.contains(':');
    url += fmt::format("{}:{}", v6 ? "[" + server.host + "]" : server.host, server.port);
  }
  url += fmt::format("/{}?schema={}", escaped(server.database), escaped(server.schema));
  if (server.is_local()) url += fmt::format("&host={}&port={}", escaped(server.host), server.port);
  for (const auto* key : {"password", "ca"})
    if (fields.contains(key)) url += fmt::format("&{}={}", key, escaped(fields[key]));
  return url;
}

Result<void> name_server(const fs::path& state, const Server& server) {
  TRY(within("state folder", check_ownership(state)));
  TRY(const auto named, server_of(state));
  if (named && *named == server) return ok();
  if (named)
    return Error{Code::kConflict,
                 fmt::format("{} names another server, {}: leave --store away, or move the store: "
                             "cupel store migrate",
                             server_file(state).string(), to_url(*named))};
  if (has_store(state))
    return Error{Code::kConflict,
                 fmt::format("{} has a store already: move it with cupel --state {} store migrate "
                             "--to '{}'",
                             state.string(), state.string(), to_url(server))};
  TRY(guarded("the server for the store", [&]() -> Result<void> {
    soci::session sql;
    open_postgresql(sql, server, true);
    return ok();
  }));
  std::error_code failure;
  fs::create_directories(state.parent_path(), failure);
  make_private_folder(state);
  return write_file(server_file(state), to_yaml(server));
}

std::string drop_schema_command(const Server& server) {
  return fmt::format("psql -h {} -p {} -U {} -d {} -c 'DROP SCHEMA {} CASCADE'", server.host,
                     server.port, server.user, server.database, server.schema);
}

}  // namespace cupel::store
