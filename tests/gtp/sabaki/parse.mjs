// Reads a record from stdin with Sabaki's parser and prints its first game as JSON.  Run by test_annotations.py.
import {createRequire} from 'node:module'
import {readFileSync} from 'node:fs'

const sgf = createRequire(import.meta.url)('@sabaki/sgf')
const [root] = sgf.parseBuffer(readFileSync(0))
const plain = ({data, children}) => ({data, children: children.map(plain)})
process.stdout.write(JSON.stringify(plain(root)))
