// The names under which this and earlier versions have pinned maps. Names are never removed from the list: uninstall
// leaves pins that it does not know, as not cnpd's.
const NAMES: ReadonlySet<string> = new Set(
  `arrival_scratch beliefs cm_connection_next cm_connection_places cm_connections connected_queue_pairs counters
  doubted_ports egress_buckets egress_config egress_measures egress_opaque egress_peaks egress_ports egress_queue_sums egress_stats
  end_con_sids flows guard_allow_inbound guard_allow_outbound guard_end_con_sids guard_ports
  flow_control_arrivals flow_control_bucket flow_control_config flow_control_largest flow_control_records flow_control_shares flow_control_told flow_control_ways
  hold_filter hold_paces hold_port_bytes hold_ports hold_records hold_state holds learned_senders
  map_key_copies multicast_beliefs multicast_branches multicast_config multicast_destinations multicast_groups multicast_list_ids multicast_lists
  multicast_members multicast_notifiers multicast_ports multicast_records multicast_router_sids multicast_routers
  multicast_scratch multicast_states multicast_too_big
  notice_buffer notice_config notice_readings notice_routes notifications own_addresses port_roles proxy_bucket proxy_config
  proxy_datagrams proxy_headers proxy_instructions proxy_latency proxy_scratch proxy_senders proxy_sources
  qp_candidate_next qp_candidate_places qp_candidates qp_sent_next qp_sent_places qp_sent_psns queue_pair_scratch
  queue_pairs replication_end_cons sender_capabilities sender_policies sender_proxies
  source_bucket source_config source_headers source_holding source_nodes source_records source_scratch source_senders srv6_config srv6_local_sources srv6_next_hop_places
  srv6_next_hops srv6_sids srv6_tunnel_sources static_queue_pairs tenant_config tenant_ports tenant_sids
  unconfirmed_next unconfirmed_places unconfirmed_queue_pairs`.split(/\s+/),
);

/** A map of another version that was set aside during a load when the process was killed (kernel/bpf/object.ts). */
const ASIDE = /_replaced$/;

export const isMapPin = (name: string): boolean => NAMES.has(name.replace(ASIDE, ''));
