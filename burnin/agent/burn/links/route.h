#pragma once
// The ways by which a collective may go within a node, and how NCCL is made to take one of them: by
// its environment, which it reads once, so that each way needs a process of its own. What it then
// really took is read from its log: what was asked for is no proof.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/common/json_line.h"

namespace cupel::burn {

struct Route {
  bool nvls = false;  // sums within the NVSwitches (NVLink SHARP)
  bool hca = false;   // over the HCAs, NVLink and shared memory being forbidden

  std::string_view nvls_word() const { return nvls ? "on" : "off"; }
  std::string_view path_word() const { return hca ? "hca" : "nvlink"; }

  friend bool operator==(const Route&, const Route&) = default;
};

/// `nvls` and `path` as the command line has them: "on", "off", "both"; "nvlink", "hca", "both".
/// The way over the HCAs has no NVLS.
std::vector<Route> routes_of(std::string_view nvls, std::string_view path);

using Variables = std::map<std::string, std::string>;

/// What is set before NCCL is loaded. `log` is where it writes what it does.
/// Source: NVIDIA NCCL documentation, "Environment Variables".
Variables variables_of(const Route& route, std::string_view log);

/// All of this process whose names begin with NCCL_: they change what is measured. `environment` as
/// environ(7) has it.
Variables nccl_variables(const char* const* environment);

/// "NCCL_ALGO=Ring" lines of nccl.conf(5), comments left out; at most 64.
Variables parse_conf(std::string_view text);

/// As one JSON object.
std::string json_of(const Variables& variables);

/// What NCCL says that it did.
struct Taken {
  bool nvls = false;  // multicast is available on every GPU that reported
  bool nvls_reported = false;
  std::string network{};  // "IB", "Socket"
  std::map<std::string, int>
      channels{};  // by transport: "P2P/CUMEM", "SHM/direct", "NET/IB/0/GDRDMA"
  std::map<std::string, std::string> ports{};    // "mlx5_0:1": "IB" or "RoCE"
  std::map<std::string, std::string> choices{};  // "AllReduce 8589934592": "NVLS Simple"

  friend bool operator==(const Taken&, const Taken&) = default;
};

/// Reads a log of NCCL_DEBUG=INFO, as versions 2.14 to 2.28 write it. What it does not know it
/// passes over.
Taken parse_log(std::string_view log);

/// As one JSON object.
std::string json_of(const std::map<std::string, int>& counts);

/// {"kind":"transport","channels":{"NET/IB/0/GDRDMA":4},"ports":{"mlx5_0:1":"IB"}}: what carries
/// the bytes between nodes. Channels that the log does not have are not there.
agent::JsonLine transport_line(const Taken& taken);

/// Why what was taken is not the route that was asked for; empty: it is.
std::string objection_to(const Taken& taken, const Route& route);

}  // namespace cupel::burn
