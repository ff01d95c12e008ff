#include "inventory/user_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <set>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/read_access.h"
#include "inventory/yaml_bounds.h"

namespace cupel::inventory {
namespace {

namespace json = boost::json;
using Problems = std::vector<Problem>;

constexpr std::size_t kMostBytes = 64 * 1024;  // of a node's, merged
constexpr std::string_view kOwnFolder = "/var/lib/cupel";

constexpr std::array<std::string_view, 8> kVariables{"node", "site",   "profile", "rack",
                                                     "unit", "serial", "address", "mac"};

struct OwnKey {
  std::string_view key, why;
};
constexpr std::string_view kName = "the system's name is the node's (host_name)";
constexpr std::string_view kLogin = "the step logs in with the node's ssh: key";
constexpr std::string_view kHostKey = "the new system makes its host keys, which are pinned";
constexpr std::string_view kModules = "Cupel's own keys need the modules of the image";
constexpr std::string_view kSystem = "the image and Cupel's seed say where its settings come from";
constexpr std::array<OwnKey, 17> kOwnKeys{{
    {"hostname", kName},
    {"fqdn", kName},
    {"prefer_fqdn_over_hostname", kName},
    {"preserve_hostname", kName},
    {"disable_root", kLogin},
    {"ssh_pwauth", kLogin},
    {"ssh_deletekeys", kHostKey},
    {"ssh_keys", kHostKey},
    {"ssh_genkeytypes", kHostKey},
    {"system_info", kSystem},
    {"datasource_list", kSystem},
    {"output", "a first boot that failed is shown from /var/log/cloud-init-output.log"},
    {"power_state", "the step waits until the new system has reported"},
    {"network", "networks are network: of the node"},
    {"cloud_init_modules", kModules},
    {"cloud_config_modules", kModules},
    {"cloud_final_modules", kModules},
}};
/// Cupel's entries stand before the site's.
constexpr std::array<std::string_view, 3> kSharedLists{"ssh_authorized_keys", "write_files",
                                                       "runcmd"};
constexpr std::string_view kUsers = "users";

/// "1_000", "+5", "-0755", "0x1F", ".inf", which YAML 1.1 takes for other numbers than they are
/// elsewhere. Source: YAML 1.1 types, "int" and "float".
bool differs_as_number(std::string_view text) {
  const bool with_sign = text.starts_with('+') || text.starts_with('-');
  const auto bare = lower_case(text.substr(with_sign ? 1 : 0));
  auto digits = bare;
  std::erase(digits, '_');
  if (digits == ".inf" || digits == ".nan") return true;
  if (digits.starts_with("0x") || digits.starts_with("0b") || digits.starts_with("0o")) return true;
  if (!cupel::number<double>(digits)) return false;
  const bool padded = digits.size() > 1 && digits.front() == '0';
  return text.starts_with('+') || digits != bare || (with_sign && padded);
}

/// As YAML 1.1 has plain words, which cloud-init reads. Nothing: what would not arrive as it
/// stands.
std::optional<json::value> plain_value(std::string_view text) {
  const auto word = lower_case(text);
  if (word == "true" || word == "yes" || word == "on") return json::value(true);
  if (word == "false" || word == "no" || word == "off") return json::value(false);
  constexpr std::string_view kBegins = "0123456789+-.";
  if (text.empty() || !kBegins.contains(text.front())) return json::value(text);
  if (differs_as_number(text)) return std::nullopt;
  const bool padded =
      text.size() > 1 && text.front() == '0' && text.find_first_not_of("0123456789") == text.npos;
  const bool octal = padded && text.find_first_not_of("01234567") == text.npos;
  if (padded && !octal) return json::value(text);
  std::int64_t number = 0;
  const auto [stop, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number, octal ? 8 : 10);
  if (failure == std::errc{} && stop == text.data() + text.size()) return json::value(number);
  if (cupel::number<double>(text)) return std::nullopt;
  return json::value(text);
}

class Reader {
 public:
  Reader(UserData& into, const std::filesystem::path& folder, Problems& problems)
      : into_{into}, folder_{folder}, problems_{problems} {}

  void read(YamlValue& value) {
    if (value.key.contains("{{")) report(key_of(value), "a key of user_data takes no variables");
    if (value.kind == YamlValue::Kind::scalar) read_text(value);
    for (auto& item : value.items) read(item);
  }

  void check_keys() {
    for (const auto& entry : into_.tree.items) {
      const auto own = std::ranges::find(kOwnKeys, entry.key, &OwnKey::key);
      if (own != kOwnKeys.end())
        report(key_of(entry), fmt::format("user_data cannot set {}: {}", entry.key, own->why));
      const bool list =
          entry.key == kUsers || std::ranges::find(kSharedLists, entry.key) != kSharedLists.end();
      if (!list || entry.kind == YamlValue::Kind::null) continue;
      if (entry.kind != YamlValue::Kind::list)
        report(place_of(entry), entry.key + " of user_data must be a list");
      if (entry.key == "write_files") check_files(entry);
    }
  }

 private:
  Place place_of(const YamlValue& value) const {
    return {into_.where.file, value.line, value.column};
  }
  Place key_of(const YamlValue& value) const {
    return {into_.where.file, value.key_line, value.key_column};
  }
  void report(Place where, std::string what) { problems_.push_back({where, std::move(what)}); }

  void check_files(const YamlValue& files) {
    for (const auto& file : files.items) {
      const auto* path = file.entry("path");
      if (path == nullptr) continue;
      if (path->text.contains("{{"))
        report(place_of(*path), "a path of write_files takes no variables");
      else if (is_own(path->text))
        report(place_of(*path), fmt::format("user_data cannot write {}: what is in {}/ is Cupel's",
                                            printable(path->text), kOwnFolder));
    }
  }

  /// However it is spelled.
  static bool is_own(const std::string& path) {
    auto normal = std::filesystem::path{"/" + path}.lexically_normal().string();
    return normal == kOwnFolder || normal.starts_with(std::string{kOwnFolder} + "/");
  }

  void read_text(YamlValue& value) {
    if (!value.text.contains("{{")) {
      if (!value.quoted && !plain_value(value.text))
        report(place_of(value), fmt::format("'{}' would arrive as another value: put it in quotes",
                                            printable(value.text)));
      return;
    }
    auto parts = text_parts(value.text, kVariables);
    if (!parts) return report(place_of(value), parts.error().what);
    for (auto& part : *parts) {
      if (part.kind == TextPart::Kind::variable)
        into_.variables.push_back({part.text, place_of(value)});
      if (part.kind == TextPart::Kind::secret) read_secret(part.text, place_of(value));
    }
    value.text = text_of(*parts);
  }

  /// With the absolute path of its file.
  void read_secret(std::string& text, const Place& where) {
    auto ref = secret_of(text, folder_);
    if (!ref)
      return report(
          where, "secret names file:PATH, env:NAME or cmd:COMMAND, not '" + printable(text) + "'");
    ref->named = where;
    if (ref->kind == SecretRef::Kind::file) text = "file:" + ref->where;
    into_.secrets.emplace(text, *std::move(ref));
  }

  UserData& into_;
  const std::filesystem::path& folder_;
  Problems& problems_;
};

std::string_view kind_word(YamlValue::Kind kind) {
  if (kind == YamlValue::Kind::map) return "map";
  return kind == YamlValue::Kind::list ? "list" : "single value";
}

void merge_into(YamlValue& far, const YamlValue& near, const std::string& file,
                Problems& problems) {
  using Kind = YamlValue::Kind;
  for (const auto& entry : near.items) {
    const auto known = std::ranges::find(far.items, entry.key, &YamlValue::key);
    if (known == far.items.end()) {
      far.items.push_back(entry);
    } else if (known->kind == Kind::null || entry.kind == Kind::null) {
      *known = entry;
    } else if (known->kind != entry.kind) {
      problems.push_back(
          {{file, entry.line, entry.column},
           fmt::format("{} of user_data is a {} here, and a {} where it is set before",
                       printable(entry.key), kind_word(entry.kind), kind_word(known->kind))});
    } else if (entry.kind == Kind::map) {
      merge_into(*known, entry, file, problems);
    } else if (entry.kind == Kind::list) {
      known->items.insert(known->items.end(), entry.items.begin(), entry.items.end());
    } else {
      *known = entry;
    }
  }
}

/// Names of secrets in the texts of a tree.
void collect_secrets(const YamlValue& value, std::set<std::string, std::less<>>& names) {
  for (const auto& item : value.items) collect_secrets(item, names);
  if (value.kind != YamlValue::Kind::scalar || !value.text.contains("{{")) return;
  const auto parts = text_parts(value.text, kVariables);
  if (!parts) return;
  for (const auto& part : *parts)
    if (part.kind == TextPart::Kind::secret) names.insert(part.text);
}

json::value rendered(const YamlValue& value, const TextValues& values) {
  switch (value.kind) {
    case YamlValue::Kind::null:
      return nullptr;
    case YamlValue::Kind::map:
      return cloud_config(value, values);
    case YamlValue::Kind::list: {
      json::array all;
      for (const auto& item : value.items) all.push_back(rendered(item, values));
      return all;
    }
    case YamlValue::Kind::scalar:
      break;
  }
  if (value.text.contains("{{")) {
    const auto parts = text_parts(value.text, kVariables);
    return json::value(parts ? filled(*parts, values) : std::string{});
  }
  if (value.quoted) return json::value(value.text);
  return plain_value(value.text).value_or(json::value(value.text));
}

/// The image's own user is made, and gets the keys of ssh_authorized_keys, where users: has it.
/// Source: cloud-init 22.4, "Users and Groups"; cc_ssh.
void check_users(const UserDataLayers& layers, const YamlValue& tree, Problems& problems) {
  using Kind = YamlValue::Kind;
  const auto* users = tree.entry(kUsers);
  if (users == nullptr || users->kind != Kind::list) return;
  const auto is_default = [](const YamlValue& user) {
    const auto* name = user.kind == Kind::map ? user.entry("name") : &user;
    return name != nullptr && name->kind == Kind::scalar && name->text == "default";
  };
  if (std::ranges::any_of(users->items, is_default)) return;
  Place where;
  for (const auto& layer : layers)
    if (const auto* entry = layer->tree.entry(kUsers))
      where = {layer->where.file, entry->line, entry->column};
  problems.push_back({std::move(where),
                      "users of user_data lacks default, the image's own user: users: [default, "
                      "...]"});
}

/// One set of layers, which many nodes have.
void check_layers(const UserDataLayers& layers, Problems& problems) {
  const auto tree = merged(layers, problems);
  check_users(layers, tree, problems);
  if (const auto bytes = cost_of(tree).bytes; bytes > kMostBytes)
    problems.push_back({layers.back()->where,
                        fmt::format("user_data of a node has {} bytes of text: at most {} KiB. Let "
                                    "runcmd fetch the rest",
                                    bytes, kMostBytes / 1024)});
}

}  // namespace

std::shared_ptr<const UserData> read_user_data(YamlFields& os, const std::filesystem::path& folder,
                                               const std::string& file, Problems& problems) {
  const auto* value = os.value("user_data");
  if (value == nullptr) return nullptr;
  auto data = std::make_shared<UserData>();
  data->tree = *value;
  data->where = {file, value->line, value->column};
  if (value->kind != YamlValue::Kind::map) {
    problems.push_back(
        {data->where, "user_data is a map of cloud-config's keys, such as packages: [chrony]"});
    return nullptr;
  }
  Reader reader{*data, folder, problems};
  for (auto& entry : data->tree.items) reader.read(entry);
  reader.check_keys();
  return data;
}

std::shared_ptr<const UserData> read_os(const YamlValue* value, const std::filesystem::path& folder,
                                        const std::string& file, Problems& problems) {
  if (value == nullptr) return nullptr;
  YamlFields fields{*value, "os", file, problems};
  auto data = read_user_data(fields, folder, file, problems);
  fields.finish();
  return data;
}

UserDataLayers user_data_of(const Inventory& inventory, const Node& node) {
  UserDataLayers layers;
  if (const auto profile = inventory.profiles.find(node.profile);
      profile != inventory.profiles.end())
    layers = profile->second.os.user_data;
  layers.insert(layers.end(), node.user_data.begin(), node.user_data.end());
  return layers;
}

YamlValue merged(const UserDataLayers& layers, Problems& problems) {
  YamlValue tree{.kind = YamlValue::Kind::map};
  for (const auto& layer : layers) merge_into(tree, layer->tree, layer->where.file, problems);
  return tree;
}

std::map<std::string, SecretRef, std::less<>> secrets_of(const UserDataLayers& layers,
                                                         const YamlValue& tree) {
  std::set<std::string, std::less<>> names;
  collect_secrets(tree, names);
  std::map<std::string, SecretRef, std::less<>> secrets;
  for (const auto& layer : layers)
    for (const auto& [name, ref] : layer->secrets)
      if (names.contains(name)) secrets.emplace(name, ref);
  return secrets;
}

std::map<std::string, std::string, std::less<>> variables_of(const Inventory& inventory,
                                                             const Node& node) {
  std::map<std::string, std::string, std::less<>> values{
      {"node", node.name},
      {"site", inventory.site},
      {"profile", node.profile},
      {"rack", node.rack},
      {"serial", node.serial},
      {"address", node.boot.address.substr(0, node.boot.address.find('/'))}};
  if (node.unit > 0) values["unit"] = std::to_string(node.unit);
  if (!node.boot.macs.empty()) values["mac"] = node.boot.macs.front();
  std::erase_if(values, [](const auto& each) { return each.second.empty(); });
  return values;
}

json::object cloud_config(const YamlValue& tree, const TextValues& values) {
  json::object all;
  for (const auto& entry : tree.items)
    if (entry.kind != YamlValue::Kind::null) all[entry.key] = rendered(entry, values);
  return all;
}

void check_user_data(const Inventory& inventory, Problems& problems) {
  std::set<UserDataLayers> checked;
  for (const auto& node : inventory.nodes) {
    const bool seed = inventory.profile_of(node).os.seed;
    if (node.network && !seed)
      problems.push_back(
          {node.where,
           fmt::format("node '{}' has network:, and os: seed: no of profile '{}' leaves "
                       "no way for it: take one of them away",
                       node.name, node.profile)});
    const auto layers = user_data_of(inventory, node);
    if (layers.empty()) continue;
    if (checked.insert(layers).second) check_layers(layers, problems);
    if (!seed)
      problems.push_back(
          {layers.back()->where,
           fmt::format("node '{}' gets user_data, and os: seed: no of profile '{}' leaves no way "
                       "for it: take one of them away",
                       node.name, node.profile)});
    const auto values = variables_of(inventory, node);
    for (const auto& layer : layers)
      for (const auto& [name, where] : layer->variables)
        if (!values.contains(name))
          problems.push_back(
              {where,
               fmt::format("user_data has the variable {}, and node '{}' has none{}", name,
                           node.name, name == "mac" || name == "address" ? " (boot:)" : "")});
  }
}

}  // namespace cupel::inventory
