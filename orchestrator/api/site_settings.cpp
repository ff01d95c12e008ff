#include "orchestrator/api/site_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/yaml.h"
#include "orchestrator/api/oidc_keys.h"

namespace cupel::api {
namespace {

using inventory::YamlFields;
using inventory::YamlValue;

constexpr std::size_t kLargestSettings = 1u << 20;

/// What reading needs everywhere.
struct Reading {
  const std::string& file;
  std::vector<inventory::Problem>& problems;

  std::string path(const std::optional<std::string>& named) const {
    if (!named || named->empty()) return {};
    const std::filesystem::path path{*named};
    if (path.is_absolute()) return path.string();
    return (absolute_path(file).parent_path() / path).lexically_normal().string();
  }
};

Grant grant_of(YamlFields& fields, const YamlValue& map) {
  Grant grant;
  const auto word = fields.required("role");
  const auto role = role_of(word);
  if (!role && !word.empty())
    fields.report(fields.place("role"),
                  fmt::format("role is viewer, operator or admin, not '{}'", word));
  grant.role = role.value_or(Role::viewer);
  grant.racks = inventory::scope_in(fields, map);
  return grant;
}

std::map<std::string, Grant> grants_of(const Reading& reading, YamlFields& above,
                                       std::string_view key, std::string_view by) {
  std::map<std::string, Grant> grants;
  for (const auto& item : above.list(key)) {
    YamlFields fields{item, std::string{by}, reading.file, reading.problems};
    const auto name = fields.required(by);
    auto grant = grant_of(fields, item);
    fields.finish();
    if (!name.empty() && !grants.emplace(name, std::move(grant)).second)
      fields.report(fields.place(by), fmt::format("{} '{}' is here twice", by, name));
  }
  return grants;
}

/// Source: RFC 6749, 3.3; OpenID Connect Core 1.0, 3.1.2.1.
bool is_scope(const std::string& scope) {
  constexpr std::size_t kLongest = 200;
  const auto asked = words(scope);
  return scope.size() <= kLongest && printable(scope) == scope &&
         std::ranges::find(asked, "openid") != asked.end();
}

OidcSettings oidc_of(const Reading& reading, const YamlValue& value) {
  YamlFields fields{value, "oidc", reading.file, reading.problems};
  OidcSettings oidc;
  oidc.issuer = fields.required("issuer");
  oidc.audience = fields.required("audience");
  oidc.keys = fields.required("keys");
  if (oidc.keys.starts_with("http://"))
    fields.report(fields.place("keys"), "keys is a file or an https:// address");
  if (!is_key_address(oidc.keys)) oidc.keys = reading.path(oidc.keys);
  oidc.ca = reading.path(fields.text("ca"));
  oidc.name = fields.text("name").value_or(oidc.name);
  oidc.groups = fields.text("groups").value_or(oidc.groups);
  oidc.scope = fields.text("scope").value_or(oidc.scope);
  if (!is_scope(oidc.scope))
    fields.report(fields.place("scope"),
                  "scope is words with openid among them, 200 bytes at most");
  oidc.grants = grants_of(reading, fields, "grants", "group");
  fields.finish();
  return oidc;
}

void take_tls(const Reading& reading, const YamlValue& value, SiteSettings& settings) {
  YamlFields fields{value, "tls", reading.file, reading.problems};
  settings.certificate = reading.path(fields.required("certificate"));
  settings.key = reading.path(fields.required("key"));
  settings.client_ca = reading.path(fields.text("client_ca"));
  fields.finish();
}

void take_two_person(YamlFields& fields, SiteSettings& settings) {
  for (const auto& word : fields.texts("two_person")) {
    if (std::ranges::find(kTwoPersonWords, word) == std::end(kTwoPersonWords))
      fields.report(fields.place("two_person"),
                    fmt::format("'{}' is none of {}", word, fmt::join(kTwoPersonWords, ", ")));
    settings.two_person.insert(word);
  }
}

}  // namespace

std::optional<SiteSettings> parse_site_settings(std::string_view text, const std::string& file,
                                                std::vector<inventory::Problem>& problems) {
  const auto before = problems.size();
  const auto document = inventory::parse_yaml(text, file, problems);
  if (!document) return std::nullopt;
  const Reading reading{file, problems};
  SiteSettings settings;
  YamlFields fields{document->root, "service", file, problems};
  settings.inventory = reading.path(fields.text("inventory"));
  settings.playbooks = reading.path(fields.text("playbooks"));
  settings.listen = fields.texts("listen");
  settings.names = fields.texts("names");
  if (const auto* tls = fields.value("tls")) take_tls(reading, *tls, settings);
  settings.users = grants_of(reading, fields, "users", "user");
  settings.certificates = grants_of(reading, fields, "certificates", "name");
  if (const auto* oidc = fields.value("oidc")) settings.oidc = oidc_of(reading, *oidc);
  take_two_person(fields, settings);
  if (fields.has("parameters")) {
    const auto names = fields.texts("parameters");
    settings.parameters.emplace(names.begin(), names.end());
  }
  settings.schedules = schedules_of(fields, file, problems);
  settings.notices = notice_hooks_of(fields, file, problems);
  if (const auto rate = fields.number("requests_per_second")) {
    if (*rate < 1 || *rate > 1e6)
      fields.report(fields.place("requests_per_second"), "is from 1 to 1000000");
    settings.requests_per_second = *rate;
  }
  settings.session = fields.duration("session").value_or(settings.session);
  if (const auto form = fields.text("log")) {
    if (*form != "text" && *form != "json")
      fields.report(fields.place("log"), "log is text or json, not '" + *form + "'");
    settings.json_log = *form == "json";
  }
  fields.finish();
  return problems.size() == before ? std::optional{std::move(settings)} : std::nullopt;
}

std::optional<SiteSettings> read_site_settings(const std::string& file,
                                               std::vector<inventory::Problem>& problems) {
  const auto owned = check_ownership(file);
  if (!owned) {
    problems.push_back({{file}, owned.error().what});
    return std::nullopt;
  }
  const auto text = read_file(file, kLargestSettings);
  if (text) return parse_site_settings(*text, file, problems);
  problems.push_back({{file}, text.error().what});
  return std::nullopt;
}

}  // namespace cupel::api
