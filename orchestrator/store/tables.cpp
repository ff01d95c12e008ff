#include "orchestrator/store/tables.h"

#include <array>

namespace cupel::store {
namespace {

constexpr auto kInteger = Column::Kind::integer;
constexpr auto kReal = Column::Kind::real;
constexpr auto kPacked = Column::Kind::packed;
constexpr std::size_t kLargeRows = 20;  // at once, where one may have megabytes

constexpr std::array kRun{
    Column{"id", kInteger},    Column{"playbook"},         Column{"playbook_file"},
    Column{"playbook_text"},   Column{"inventory_file"},   Column{"inventory_digest"},
    Column{"phase"},           Column{"cancel", kInteger}, Column{"began", kInteger},
    Column{"ended", kInteger}, Column{"options"}};
constexpr std::array kRunNode{Column{"run", kInteger}, Column{"place", kInteger}, Column{"node"}};
constexpr std::array kEvent{Column{"run", kInteger},  Column{"sequence", kInteger},
                            Column{"time", kInteger}, Column{"kind"},
                            Column{"node"},           Column{"step"},
                            Column{"data", kPacked},  Column{"hash"}};
constexpr std::array kNodeLock{Column{"node"}, Column{"run", kInteger}};
constexpr std::array kKnownKey{Column{"name"}, Column{"fingerprint"}, Column{"since", kInteger},
                               Column{"by_person", kInteger}};
constexpr std::array kBmcRefusal{
    Column{"node"},          Column{"login"},           Column{"mark"},
    Column{"salt"},          Column{"times", kInteger}, Column{"believed", kInteger},
    Column{"last", kInteger}};
constexpr std::array kKnownBmc{Column{"node"},           Column{"serial"},         Column{"uuid"},
                               Column{"service_uuid"},   Column{"macs"},           Column{"host"},
                               Column{"port", kInteger}, Column{"since", kInteger}};
constexpr std::array kBmcBudget{Column{"node"}, Column{"data"}};
constexpr std::array kCommand{Column{"id", kInteger}, Column{"run", kInteger}, Column{"kind"},
                              Column{"node"},         Column{"step"},          Column{"reason"},
                              Column{"asked_by"},     Column{"at", kInteger}};
constexpr std::array kSnapshot{Column{"run", kInteger}, Column{"sequence", kInteger},
                               Column{"event_hash"}, Column{"state", kPacked}, Column{"hash"}};
constexpr std::array kRepair{
    Column{"rowid", kInteger}, Column{"run", kInteger}, Column{"at", kInteger},
    Column{"asked_by"},        Column{"reason"},        Column{"damaged_at", kInteger},
    Column{"damage"},          Column{"phase"},         Column{"nodes"}};
constexpr std::array kPruned{Column{"run", kInteger},   Column{"playbook"},
                             Column{"began", kInteger}, Column{"ended", kInteger},
                             Column{"at", kInteger},    Column{"asked_by"}};
constexpr std::array kName{Column{"id", kInteger}, Column{"text"}};
constexpr std::array kSeries{Column{"id", kInteger}, Column{"stage", kInteger},
                             Column{"measure", kInteger}, Column{"unit", kInteger},
                             Column{"profile", kInteger}};
constexpr std::array kMeasurement{Column{"series", kInteger},   Column{"run", kInteger},
                                  Column{"subject", kInteger},  Column{"sequence", kInteger},
                                  Column{"place", kInteger},    Column{"value", kReal},
                                  Column{"criterion", kInteger}};
constexpr std::array kAccessToken{Column{"rowid", kInteger},
                                  Column{"id"},
                                  Column{"hash"},
                                  Column{"name"},
                                  Column{"role"},
                                  Column{"racks"},
                                  Column{"session", kInteger},
                                  Column{"parent"},
                                  Column{"made_by"},
                                  Column{"made", kInteger},
                                  Column{"expires", kInteger},
                                  Column{"revoked", kInteger},
                                  Column{"used", kInteger}};
constexpr std::array kAudit{Column{"sequence", kInteger},
                            Column{"time", kInteger},
                            Column{"who"},
                            Column{"origin"},
                            Column{"what"},
                            Column{"data"},
                            Column{"hash"}};
constexpr std::array kKeptReply{
    Column{"rowid", kInteger},  Column{"who"},      Column{"key"},  Column{"request"},
    Column{"status", kInteger}, Column{"location"}, Column{"body"}, Column{"at", kInteger}};
constexpr std::array kPendingApproval{Column{"id"},           Column{"request"},
                                      Column{"asked_by"},     Column{"origin"},
                                      Column{"at", kInteger}, Column{"expires", kInteger}};
constexpr std::array kStepSecret{Column{"run", kInteger}, Column{"id"}, Column{"text"}};

constexpr std::array kTables{
    Table{"run", kRun, 1, kLargeRows},
    Table{"run_node", kRunNode, 2},
    Table{"event", kEvent, 2},
    Table{"node_lock", kNodeLock, 1},
    Table{"known_key", kKnownKey, 1},
    Table{"bmc_refusal", kBmcRefusal, 2},
    Table{"known_bmc", kKnownBmc, 1},
    Table{"bmc_budget", kBmcBudget, 1},
    Table{"command", kCommand, 1},
    Table{"snapshot", kSnapshot, 2, 1},
    Table{"repair", kRepair, 1},
    Table{"pruned", kPruned, 1},
    Table{"name", kName, 1},
    Table{"series", kSeries, 1},
    Table{"measurement", kMeasurement, 5, 5000},
    Table{"access_token", kAccessToken, 1},
    Table{"audit", kAudit, 1},
    Table{"kept_reply", kKeptReply, 1, kLargeRows},
    Table{"pending_approval", kPendingApproval, 1},
    Table{"step_secret", kStepSecret, 2},
};

}  // namespace

std::span<const Table> tables() { return kTables; }

}  // namespace cupel::store
