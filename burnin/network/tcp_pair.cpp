#include "burnin/network/tcp_pair.h"

#include <fmt/format.h>

#include <array>

#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"
#include "burnin/group_stage.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using inventory::Subject;
using std::chrono::seconds;

constexpr std::string_view kProgram = "cupel-node";
constexpr std::array<std::string_view, 1> kPrograms{kProgram};
constexpr std::array kParameters{
    ParameterRow{"duration", ParameterRow::Kind::duration, "of each direction", "10s", {}, 1, 600},
    ParameterRow{"size",
                 ParameterRow::Kind::size,
                 "bytes after which a direction ends, whatever its duration",
                 "64GiB",
                 {},
                 kMiB,
                 16 * kTiB},
    ParameterRow{"port", ParameterRow::Kind::text,
                 "on which one of the two listens: one that the firewall lets through, or any",
                 "any"}};
constexpr std::array<std::string_view, 5> kMeasures{"tcp.links", "tcp.throughput",
                                                    "tcp.retransmits", "tcp.rtt", "tcp.refused"};

constexpr seconds kConnect{60};      // from the server's first line to the client's connection
constexpr double kLeastTime = 1e-6;  // of a direction, in seconds
constexpr std::size_t kMostLines = 1000;

Result<int> port_parameter(const Parameters& parameters) {
  constexpr int kMostPort = 65535;
  const auto written = text_parameter(kParameters, parameters, "port");
  if (written == "any") return 0;
  const auto port = number<int>(written);
  if (port && *port > 0 && *port <= kMostPort) return *port;
  return Error{Code::kInvalid, fmt::format("port must be any, or 1 to {}, not '{}'", kMostPort,
                                           shortened(printable(written), 80))};
}

/// "--seconds 10 --most 68719476736"
Result<std::string> bounds_of(const Parameters& parameters) {
  TRY(const auto duration, duration_parameter(kParameters, parameters, "duration"));
  TRY(const auto size, size_parameter(kParameters, parameters, "size"));
  return fmt::format("--seconds {} --most {:.0f}", duration.count(), size);
}

Result<std::string> server_script(const Parameters& parameters) {
  TRY(const auto port, port_parameter(parameters));
  TRY(const auto bounds, bounds_of(parameters));
  return script::head() + script::needs(kProgram) +
         fmt::format("exec cupel-node tcp serve --port {} {} --wait {}\n", port, bounds,
                     kConnect.count());
}

/// The token goes by printf, which the shell has built in, and so is in no command line.
Result<std::string> client_script(const Parameters& parameters, std::string_view server) {
  TRY(const auto bounds, bounds_of(parameters));
  return script::head() + script::needs(kProgram) +
         fmt::format(
             "printf '%s\\n' \"${{shared#* }}\" | cupel-node tcp send --to {} --port "
             "\"${{shared%% *}}\" {}\n",
             shell_quoted(server), bounds);
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(auto script, server_script(parameters));
  TRY(const auto duration, duration_parameter(kParameters, parameters, "duration"));
  return Job{std::move(script), 2 * duration + seconds{5}, 2 * duration + kConnect + seconds{120}};
}

Result<std::vector<MemberJob>> prepare_group(std::span<const Member> members,
                                             const Parameters& parameters) {
  TRY(auto server, server_script(parameters));
  TRY(auto client, client_script(parameters, members[0].address));
  return std::vector<MemberJob>{{"server", std::move(server)}, {"client", std::move(client)}};
}

/// What one node reported. Of a sender what it sent, of a receiver what came.
struct Report {
  std::optional<double> sent{}, segments{}, retransmits{}, rtt{};
  std::optional<double> received{}, seconds{};
  std::optional<double> strangers{}, port{};
  std::string token{};
};

std::optional<double> amount_in(const json::object& line, std::string_view key) {
  const auto* value = line.if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const auto amount = value->to_number<double>();
  return amount >= 0 && amount < 1e18 ? std::optional{amount} : std::nullopt;
}

void take_line(const json::object& line, Report& report) {
  const auto* kind = line.if_contains("kind");
  if (kind == nullptr || !kind->is_string()) return;
  const auto word = std::string_view{kind->get_string()};
  if (word == "tcp-ready") {
    report.port = amount_in(line, "port");
    const auto* token = line.if_contains("token");
    if (token != nullptr && token->is_string()) report.token = token->get_string();
  } else if (word == "tcp-sent") {
    report.sent = amount_in(line, "bytes");
    report.segments = amount_in(line, "segments");
    report.retransmits = amount_in(line, "retransmits");
    report.rtt = amount_in(line, "rtt_us");
  } else if (word == "tcp-received") {
    report.received = amount_in(line, "bytes");
    report.seconds = amount_in(line, "seconds");
  } else if (word == "tcp-refused") {
    report.strangers = amount_in(line, "count");
  }
}

/// Whole lines alone: the last one may still be under way.
Report read_report(std::string_view text) {
  Report report;
  for (std::size_t i = 0; i < kMostLines; ++i) {
    const auto end = text.find('\n');
    if (end == text.npos) break;
    const auto line = parse_json(text.substr(0, end));
    if (line && line->is_object()) take_line(line->get_object(), report);
    text.remove_prefix(end + 1);
  }
  return report;
}

std::optional<std::string> shared(std::string_view output) {
  const auto report = read_report(output);
  if (!report.port || report.token.empty()) return std::nullopt;
  return fmt::format("{:.0f} {}", *report.port, report.token);
}

/// What was sent by the one must have come to the other: else nothing is known of the way between.
Result<void> add_direction(const Report& from, const Report& to, const std::string& direction,
                           std::vector<Measurement>& found) {
  if (!from.sent || !from.segments || !from.retransmits || !to.received || !to.seconds)
    return Error{Code::kNoMeasurement, direction + ": nothing was measured"};
  const bool sound = *to.received >= 1 && *to.seconds >= kLeastTime && *from.segments >= 1;
  if (*from.sent != *to.received || !sound)
    return Error{Code::kMalformed, fmt::format("{}: {:.0f} bytes were sent, and {:.0f} came",
                                               direction, *from.sent, *to.received)};
  constexpr double kBits = 8e-9, kPercent = 100;
  found.push_back({"tcp.throughput", "", *to.received * kBits / *to.seconds, "Gb/s", direction});
  found.push_back(
      {"tcp.retransmits", "", kPercent * *from.retransmits / *from.segments, "%", direction});
  if (from.rtt) found.push_back({"tcp.rtt", "", *from.rtt, "us", direction});
  return ok();
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(script::check_gave_up(output));
  return Error{Code::kNoMeasurement, "it takes two nodes: group_by: pairs"};
}

Result<GroupFindings> analyse_group(const Profile&, std::span<const Member> members,
                                    std::span<const Output> outputs) {
  const auto server = read_report(outputs[0].text), client = read_report(outputs[1].text);
  const auto &one = members[0], &other = members[1];
  std::vector<Measurement> measured;
  TRY(add_direction(client, server, other.node + " to " + one.node, measured));
  TRY(add_direction(server, client, one.node + " to " + other.node, measured));
  GroupFindings found;
  const Subject link{Subject::Kind::link, one.node, one.address, other.node, other.address};
  for (auto& each : measured) found.links.push_back({link, std::move(each), {}});
  Findings member;
  member.measurements.push_back({"tcp.links", "", 1, "links"});
  found.members.assign(2, member);
  if (server.strangers)
    found.members[0].measurements.push_back({"tcp.refused", "", *server.strangers, "count"});
  return found;
}

constexpr GroupStage kGroup{2, 2, prepare_group, shared, analyse_group};

}  // namespace

Stage tcp_pair() {
  Stage row{"tcp-pair",
            "bandwidth and retransmits of plain TCP between two nodes, each way (cupel-node)",
            kParameters,
            prepare,
            parse,
            kMeasures,
            {0.05, 0.2, "one CPU core copies the data"},
            kPrograms};
  row.group = &kGroup;
  return row;
}

}  // namespace cupel::burnin
