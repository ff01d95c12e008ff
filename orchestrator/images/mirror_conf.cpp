#include "orchestrator/images/mirror_conf.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/paths.h"
#include "base/text.h"

namespace cupel::images {
namespace {

/// As is_image_name(), and no other file of an image.
constexpr std::string_view kDisks = R"(^/images/([A-Za-z0-9][A-Za-z0-9._-]*/disk\.raw\.zst)$)";

constexpr std::string_view kStore =
    R"(# nginx: the compressed disks of the image store, for the mirrors of the racks.
server {{
  listen {port};
  server_tokens off;
  location ~ "{disks}" {{
    alias "{folder}/$1";
    disable_symlinks on;
    limit_except GET {{ deny all; }}
    sendfile on;
  }}
  location / {{ return 404; }}
}}
)";

// A piece that several ask for is fetched once (proxy_cache_lock), also by its range (slice).
// Debian's package has /var/lib/nginx, and nginx makes no parents. Source: nginx,
// ngx_http_proxy_module and ngx_http_slice_module.
constexpr std::string_view kMirror =
    R"(# nginx: a rack's mirror of the image store, which fetches each piece once.
proxy_cache_path /var/lib/nginx/cupel levels=1:2 keys_zone=cupel:1m max_size={gigabytes}g inactive=30d
  use_temp_path=off;
server {{
  listen {port};
  server_tokens off;
  location ~ "{disks}" {{
    limit_except GET {{ deny all; }}
    slice 16m;
    proxy_pass {from}/$1$is_args$args;
    proxy_http_version 1.1;
    proxy_set_header Range $slice_range;
    proxy_cache cupel;
    proxy_cache_key $uri$is_args$args$slice_range;
    proxy_cache_valid 200 206 30d;
    proxy_cache_lock on;
    proxy_cache_lock_age 5m;
    proxy_cache_lock_timeout 5m;
  }}
  location / {{ return 404; }}
}}
)";

/// What nginx takes for words of its own: quotes, blocks, variables, the end of a line.
bool is_plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c > 0x20 && c < 0x7f && std::string_view{"\"'\\;{}$#"}.find(c) == std::string_view::npos;
  });
}

/// With a name nginx would need a resolver, since the URL that it fetches has a variable.
bool has_address(std::string_view url) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!url.starts_with(scheme)) continue;
    const auto rest = url.substr(scheme.size());
    const auto host = rest.substr(0, rest.find('/'));
    return !host.empty() && host.find_first_not_of("0123456789.:") == host.npos;
  }
  return false;
}

}  // namespace

Result<std::string> store_conf(const std::filesystem::path& folder, std::uint16_t port) {
  const auto path = absolute_path(folder).lexically_normal().string();
  if (!is_plain(path))
    return Error{Code::kInvalid, "the folder of images " + printable(path) +
                                     " has blanks or signs that nginx's configuration cannot hold: "
                                     "name another by --images"};
  return fmt::format(kStore, fmt::arg("port", port), fmt::arg("disks", kDisks),
                     fmt::arg("folder", path));
}

Result<std::string> mirror_conf(const MirrorRequest& request) {
  constexpr std::size_t kLongest = 200;
  auto from = request.from;
  while (from.ends_with('/')) from.pop_back();
  if (!is_plain(from) || from.size() > kLongest || !has_address(from))
    return Error{Code::kInvalid, "--from '" + printable(request.from) +
                                     "' is not where the image store is served, by its address: "
                                     "http://10.0.0.1:8082/images"};
  return fmt::format(kMirror, fmt::arg("port", request.port), fmt::arg("disks", kDisks),
                     fmt::arg("from", from), fmt::arg("gigabytes", request.gigabytes));
}

}  // namespace cupel::images
