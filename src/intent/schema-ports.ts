// ports: the egress ports that are watched for congestion (LHCNP §5.3, §5.4).
import { list, section, value } from './schema-parts.ts';
import { bitRate, byteRate, factor, interfaceName, onOff, orWord, percent, rate, size, time } from './values.ts';

export const port = section(
  {
    interface: value(interfaceName, 'egress interface with a TBF or HTB root qdisc'),
    'k-min': value(size('1B', '4GB'), 'CE marking of ECT packets above this queue depth; default k-max / 2').optional(),
    'k-max': value(
      orWord('auto', size('1B', '4GB')),
      'notifications above this queue depth; ' +
        'auto: the greater of k-base and alpha × bandwidth × rtt (LHCNP §5.3.2); absent: none',
    ).optional(),
    'k-base': value(size('1B', '4GB'), 'least k-max: auto, at least one RoCEv2 frame; default 64kB').optional(),
    alpha: value(factor('0.01', '100'), 'factor of the bandwidth-delay product in k-max: auto; default 1').optional(),
    bandwidth: value(
      bitRate('1kbit', '100Tbit'),
      'rate of the port; default: that of the qdisc, else that of the link',
    ).optional(),
    rtt: value(
      orWord('probe', time('1us', '10s')),
      'round-trip time of the path through the port; probe: measured by stamp; default: probe when stamp has targets',
    ).optional(),
    'v-ecn': value(
      percent('0.001%', '99.999%'),
      'notifications also when more than this part of the packets is CE-marked; default: no such trigger',
    ).optional(),
    'v-growth': value(
      byteRate('1kB/s', '1000GB/s'),
      'notifications also when the queue grows faster; default: no such trigger',
    ).optional(),
    'measurement-interval': value(
      time('1ms', '10s'),
      'over which v-ecn and v-growth are measured; default 10ms',
    ).optional(),
    ecn: value(onOff, 'off: no CE marking; default on').optional(),
    'per-flow-interval': value(
      time('1us', '60s'),
      'least time between two notifications for one flow; default 20ms',
    ).optional(),
    rate: value(
      rate('1/s', '10M/s'),
      'notifications a second, all flows of the port together; default 1000/s',
    ).optional(),
  },
  'an egress port that is watched for congestion',
);

export const ports = list(port, 'egress ports that are watched for congestion');
