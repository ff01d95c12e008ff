#include "rehearsal/shell/cloud_seed.h"

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/shell/host.h"

namespace cupel::rehearsal {
namespace {

/// The text without the line of comment that cloud-init wants in front of it.
json::value read_seed(const std::map<std::string, std::string>& seed, const std::string& name) {
  const auto found = seed.find(name);
  if (found == seed.end()) return {};
  std::string_view text = found->second;
  if (text.starts_with('#')) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  auto parsed = parse_json(text);
  return parsed ? *std::move(parsed) : json::value{};
}

const json::array& array_at(const json::value& root, std::string_view path) {
  static const json::array kNone;
  const auto* found = cupel::find(root, path);
  return found != nullptr && found->is_array() ? found->get_array() : kNone;
}

void write_seeded(Host& host, const json::value& file) {
  const auto path = text_at(file, "path");
  const auto* content = cupel::find(file, "content");
  if (!path || !path->starts_with('/') || content == nullptr || !content->is_string()) return;
  unsigned mode = 0;
  for (const char digit : text_at(file, "permissions").value_or("0644"))
    mode = mode * 8 + (digit >= '0' && digit <= '7' ? static_cast<unsigned>(digit - '0') : 0);
  host.disk().put(*path, std::string{content->get_string()}, mode & 07777);
}

void run_seeded(Host& host, const std::string& command) {
  const auto device = open_inode(host.disk(), host.disk().find("/dev/null"), false);
  host.run(command, device, device, device, {}, [](int) {});
}

}  // namespace

std::string seeded_name(const std::map<std::string, std::string>& seed) {
  const auto text = read_seed(seed, "meta-data");
  return text_at(text, "local-hostname").value_or("");
}

void heed_seed(Host& host, const std::map<std::string, std::string>& seed) {
  const auto text = read_seed(seed, "user-data");
  host.disk().put("/etc/hostname", host.machine().host_name() + "\n");
  std::string keys;
  for (const auto& key : array_at(text, "ssh_authorized_keys"))
    if (key.is_string()) keys += std::string{key.get_string()} + "\n";
  host.disk().put("/root/.ssh/authorized_keys", keys, 0600);
  for (const auto& file : array_at(text, "write_files")) write_seeded(host, file);
  for (const auto& command : array_at(text, "runcmd"))
    if (command.is_string()) run_seeded(host, std::string{command.get_string()});
}

}  // namespace cupel::rehearsal
