#include "rehearsal/rack_doors.h"

#include <fmt/format.h>

#include <map>

#include "base/file.h"

namespace cupel::rehearsal {
namespace {

namespace fs = std::filesystem;

/// curl's own file for one login: a user and a password.
std::string curl_file(const NodeDoors& node) { return node.secret + "." + node.user + ".curl"; }

/// curl(1), --config: quotes and backslashes are escaped.
std::string curl_quoted(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all + "\"";
}

}  // namespace

std::string doors_text(const NodeDoors& node, const fs::path& folder) {
  const auto file = [&](const std::string& name) { return (folder / name).string(); };
  return fmt::format(
      "# {0}, a BMC as of {1}\n"
      "curl -s --config {2} --cacert {3} https://{4}:{5}/redfish/v1/Systems\n"
      "ipmitool -I lanplus -C 17 -H {4} -p {6} -U {7} -f {8} power status\n"
      "ssh -F none -i {9} -o UserKnownHostsFile={10} -p {11} root@{12}   # once the node is up\n",
      node.name, node.vendor, file(curl_file(node)), file("bmcs.pem"), node.bmc_address,
      node.bmc_port, node.ipmi_port, node.user, file(node.secret), file("id_ed25519"),
      file("known_hosts"), node.ssh_port, node.ssh_address);
}

Result<void> write_doors(const std::vector<NodeDoors>& nodes, const fs::path& folder) {
  std::string hosts, certificates, lines;
  std::map<std::string, std::string> logins;
  for (const auto& node : nodes) {
    hosts += fmt::format("[{}]:{} {}\n", node.ssh_address, node.ssh_port, node.host_key);
    certificates += node.certificate_pem;
    lines += doors_text(node, folder);
    logins[curl_file(node)] =
        fmt::format("user = {}\n", curl_quoted(node.user + ":" + node.password));
  }
  TRY(write_file(folder / "known_hosts", hosts, 0600));
  TRY(write_file(folder / "bmcs.pem", certificates, 0600));
  for (const auto& [name, text] : logins) {
    TRY(write_file(folder / name, text, 0600));
  }
  return write_file(folder / "doors.txt", lines, 0600);
}

}  // namespace cupel::rehearsal
