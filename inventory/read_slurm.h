#pragma once
// `slurm:` and `kubernetes:` of an inventory file.
#include <filesystem>

#include "inventory/model.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// Both sections of `site`, into `into`.
void read_schedulers(YamlFields& site, const std::filesystem::path& folder, Inventory& into,
                     std::vector<Problem>& problems);

/// "the url must begin with https://..."; nothing where a server can be asked there. A secret is
/// sent to it: http:// goes to loopback addresses alone.
std::optional<std::string> fault_in_server_url(std::string_view url, bool unix_socket);

/// The URL of a server at `key`, without slashes at its end, and the PEM file at `ca`, absolute;
/// empty where it is absent. What is wrong with them is reported.
std::string server_url_of(YamlFields& fields, std::string_view key, bool unix_socket);
std::string server_ca_of(YamlFields& fields, const std::filesystem::path& folder);

/// "a01-n01.example.org": small letters, digits and '-' between dots. Source: RFC 1123, 2.1.
bool is_subdomain(std::string_view text);

/// "nvidia.com/gpu.qualified": a label's or a taint's key; a label's value. Source: Kubernetes,
/// "Labels and Selectors", syntax and character set.
bool is_kubernetes_key(std::string_view key);
bool is_kubernetes_value(std::string_view value);

}  // namespace cupel::inventory
