// The metrics of several agents as one page of Prometheus' text format.
#ifndef CMD_AGENT_METRICS_PAGE_H_
#define CMD_AGENT_METRICS_PAGE_H_

#include <map>
#include <string>

namespace cmd {

// Merges pages, by the name of their cluster: each series gets the label `member_cluster`, unless
// it has it already or the page is that of no cluster (""). What is about the process (process_*)
// is on the page once, without the label.
std::string MergedMetrics(const std::map<std::string, std::string>& pages);

}  // namespace cmd

#endif  // CMD_AGENT_METRICS_PAGE_H_
