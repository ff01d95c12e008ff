#pragma once
// Since which version of the database's tables there are these. A version that was shipped is never
// edited.
namespace cupel::store {

inline constexpr int kSnapshotsSince = 3;
inline constexpr int kRepairsSince = 5;
inline constexpr int kMeasurementsSince = 6;
inline constexpr int kAuditSince = 7;

}  // namespace cupel::store
